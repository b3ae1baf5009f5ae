"""What a provider writes about a symbol: rows in the shape such APIs have, one function per data type.

Each takes the seed, the symbol, and which state of its data (a number, and since when) to write.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from math import exp
from random import Random
from typing import Any

from livewell.simulator.walk import generator, walk

Row = dict[str, Any]
Writer = Callable[[int, str, int, float], list[Row]]

_STEP = 0.002
_YEARS = 10
_QUARTER_ENDS = {"Q1": (3, 31), "Q2": (6, 30), "Q3": (9, 30), "Q4": (12, 31), "FY": (12, 31)}
_EXCHANGES = ("NASDAQ", "NYSE", "AMEX")
_SECTORS = ("Technology", "Healthcare", "Energy", "Utilities", "Industrials", "Consumer Defensive")
_TRADES = ("makes", "sells", "rents out", "repairs", "insures", "ships")
_GOODS = ("sails", "engines", "maps", "lenses", "ropes", "instruments", "charts", "pumps", "winches", "cabins")
_AMOUNTS = (
    *("revenue", "costOfRevenue", "grossProfit", "researchAndDevelopmentExpenses", "operatingExpenses"),
    *("operatingIncome", "interestExpense", "incomeBeforeTax", "incomeTaxExpense", "netIncome", "cashAndEquivalents"),
    *("shortTermInvestments", "inventory", "totalCurrentAssets", "goodwill", "totalAssets", "accountPayables"),
    *("shortTermDebt", "totalCurrentLiabilities", "longTermDebt", "totalLiabilities", "totalStockholdersEquity"),
    *("netCashFromOperatingActivities", "capitalExpenditure", "freeCashFlow", "dividendsPaid", "netChangeInCash"),
)
_RATIOS = (
    *("dividendYieldTTM", "peRatioTTM", "pegRatioTTM", "payoutRatioTTM", "currentRatioTTM", "quickRatioTTM"),
    *("cashRatioTTM", "daysOfSalesOutstandingTTM", "daysOfInventoryOutstandingTTM", "operatingCycleTTM"),
    *("grossProfitMarginTTM", "operatingProfitMarginTTM", "netProfitMarginTTM", "effectiveTaxRateTTM"),
    *("returnOnAssetsTTM", "returnOnEquityTTM", "returnOnCapitalEmployedTTM", "debtRatioTTM", "debtEquityRatioTTM"),
    *("interestCoverageTTM", "cashFlowToDebtRatioTTM", "receivablesTurnoverTTM", "inventoryTurnoverTTM"),
    *("assetTurnoverTTM", "operatingCashFlowPerShareTTM", "freeCashFlowPerShareTTM", "priceToBookRatioTTM"),
)


def quote(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    company = generator(seed, "company", symbol)
    opening = _opening(company)
    price = opening * exp(_STEP * walk(seed, symbol, number))
    before = opening * exp(_STEP * walk(seed, symbol, number - 1))
    today = generator(seed, "quote", symbol, number)
    shares = company.randrange(10**7, 10**10)
    row: Row = {
        "symbol": symbol,
        "name": _name(symbol),
        "price": round(price, 4),
        "change": round(price - before, 4),
        "changesPercentage": round(100 * (price / before - 1), 4),
        "dayLow": round(min(price, before) * (1 - today.random() / 100), 4),
        "dayHigh": round(max(price, before) * (1 + today.random() / 100), 4),
        "volume": today.randrange(10**4, 10**8),
        "marketCap": round(price * shares),
        "exchange": company.choice(_EXCHANGES),
        "timestamp": int(since),
    }
    return [row]


def profile(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    company = generator(seed, "company", symbol)
    opening, founded = _opening(company), company.randrange(1890, 2015)
    now = generator(seed, "profile", symbol, number)
    row: Row = {
        "symbol": symbol,
        "companyName": _name(symbol),
        "currency": "USD",
        "exchange": company.choice(_EXCHANGES),
        "sector": company.choice(_SECTORS),
        "country": "US",
        "ceo": f"{now.choice('ABCDEFGHJKLM')}. {now.choice(_GOODS).title()}",
        "fullTimeEmployees": now.randrange(50, 200_000),
        "ipoDate": date(founded, company.randrange(1, 13), company.randrange(1, 29)).isoformat(),
        "website": f"https://www.{symbol.lower().replace('.', '-')}.example",
        "beta": round(now.uniform(0.2, 2.5), 3),
        "marketCap": round(opening * now.randrange(10**7, 10**10)),
        "lastDividend": round(now.uniform(0, 5), 2),
        "isActivelyTrading": True,
        "updated": _day(since).isoformat(),
        "description": _story(symbol, company),
    }
    return [row]


def financial_statements(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    """Ten years, each with its quarters: some 50 KB, of which a new state restates the last year."""
    last = _day(since).year - 1
    rows: list[Row] = []
    for year in range(last, last - _YEARS, -1):
        state = number if year == last else 0
        rows += [_statement(seed, symbol, year, period, state) for period in _QUARTER_ENDS]
    return rows


def _statement(seed: int, symbol: str, year: int, period: str, state: int) -> Row:
    figures = generator(seed, "statement", symbol, year, period, state)
    end = date(year, *_QUARTER_ENDS[period])
    filed = end + timedelta(days=figures.randrange(20, 60))
    head: Row = {
        "symbol": symbol,
        "period": period,
        "calendarYear": year,
        "date": end.isoformat(),
        "reportedCurrency": "USD",
        "fillingDate": filed.isoformat(),
        "link": f"https://filings.example/{symbol}/{year}/{period}/report.htm",
    }
    amounts = {name: figures.randrange(-(10**9), 10**11) for name in _AMOUNTS}
    return {
        **head,
        **amounts,
        "eps": round(figures.uniform(-5, 20), 3),
        "epsDiluted": round(figures.uniform(-5, 20), 3),
    }


def ratios_ttm(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    figures = generator(seed, "ratios", symbol, number)
    ratios = {name: round(figures.uniform(0, 40), 6) for name in _RATIOS}
    return [{"symbol": symbol, "date": _day(since).isoformat(), **ratios}]


def earnings(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    """The last twelve quarters, of which a new state corrects the newest."""
    return [_earning(seed, symbol, day, 0 if back else number) for back, day in enumerate(_quarters(since, 12))]


def _earning(seed: int, symbol: str, day: date, state: int) -> Row:
    figures = generator(seed, "earnings", symbol, day, state)
    expected = round(figures.uniform(-1, 8), 2)
    return {
        "symbol": symbol,
        "date": day.isoformat(),
        "eps": round(expected + figures.gauss(0, 0.2), 2),
        "epsEstimated": expected,
        "revenue": figures.randrange(10**8, 10**11),
        "revenueEstimated": figures.randrange(10**8, 10**11),
        "time": figures.choice(("amc", "bmo")),
    }


def dividend_history(seed: int, symbol: str, number: int, since: float) -> list[Row]:
    """The last twenty quarters, of which a new state corrects the newest."""
    return [_dividend(seed, symbol, day, 0 if back else number) for back, day in enumerate(_quarters(since, 20))]


def _dividend(seed: int, symbol: str, day: date, state: int) -> Row:
    amount = round(generator(seed, "dividend", symbol, day, state).uniform(0.05, 3), 3)
    return {
        "symbol": symbol,
        "date": day.isoformat(),
        "dividend": amount,
        "adjDividend": amount,
        "declarationDate": (day - timedelta(days=30)).isoformat(),
        "recordDate": (day + timedelta(days=1)).isoformat(),
        "paymentDate": (day + timedelta(days=14)).isoformat(),
    }


def _quarters(since: float, count: int) -> list[date]:
    """The first days of the last so many quarters, newest first."""
    newest = _day(since)
    quarter = newest.year * 4 + (newest.month - 1) // 3
    return [date((quarter - back) // 4, (quarter - back) % 4 * 3 + 1, 1) for back in range(count)]


def _opening(company: Random) -> float:
    """What a share cost at the beginning: pennies to hundreds of thousands, most of them tens or hundreds."""
    return 10 ** company.choices((0.1, 1.5, 2.2, 5.7), (1, 6, 6, 0.2))[0] * company.uniform(0.7, 1.4)


def _name(symbol: str) -> str:
    return f"{symbol.replace('.', ' ').title()} Company, Inc."


def _story(symbol: str, company: Random) -> str:
    trades = " ".join(f"It {company.choice(_TRADES)} {company.choice(_GOODS)} in its region." for _ in range(8))
    return f"{_name(symbol)} and its subsidiaries serve harbours around the world. {trades}"


def _day(since: float) -> date:
    return datetime.fromtimestamp(since, UTC).date()


WRITERS: Mapping[str, Writer] = {
    "quote": quote,
    "profile": profile,
    "financial-statements": financial_statements,
    "ratios-ttm": ratios_ttm,
    "earnings": earnings,
    "dividend-history": dividend_history,
}
