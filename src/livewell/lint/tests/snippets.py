"""Code that breaks a rule, and the same done well; `#!` marks the lines where the finding belongs."""

from textwrap import dedent, indent

HEAD = """
from typing import Annotated, Any, ClassVar, Optional

import asyncio
from livewell import Fetcher, Livewell, Model, bounded
from pydantic import BaseModel, ConfigDict, Field

app = Livewell()


class Row(Model):
    symbol: str
    price: float = bounded(gt=0)

"""


def fetching(body: str, *, before: str = "", base: str = "Fetcher[Row]", decorator: str = "") -> str:
    """A file with one fetcher whose `fetch` has this body."""
    declared = f"{decorator}\n" if decorator else ""
    inner = indent(dedent(body).strip("\n"), "        ")
    return f"{HEAD}{dedent(before)}\n\n{declared}class Fetching({base}):\n    async def fetch(self, call):\n{inner}\n"


def modelled(fields: str, *, base: str = "Model") -> str:
    """A file with one model of its own, which a fetcher names."""
    inner = indent(dedent(fields).strip("\n"), "    ")
    return f"{HEAD}\n\nclass Own({base}):\n{inner}\n\n\nclass Fetching(Fetcher[Own]):\n    pass\n"


GOOD_FETCH = 'return await call.get(f"/quote/{call.key}").items("$[*]")'

BAD: dict[str, list[str]] = {
    "LWL000": ["def broken(:  #!\n"],
    "LWL001": [
        fetching("async with aiohttp.ClientSession() as client:  #!\n    return []", before="import aiohttp"),
        fetching("return [httpx.get(call.key).json()]  #!", before="import httpx"),
        fetching("import urllib.request  #!\nreturn []"),
        fetching("from http.client import HTTPSConnection  #!\nreturn []"),
        fetching(
            "return await load(call.key)", before="import niquests\nasync def load(key):\n    niquests.get(key)  #!"
        ),
        fetching("return [get(call.key)]  #!", before="from requests import get"),
        fetching(
            "return [first(call.key)]",
            before="import httpx\ndef first(key):\n    second(key)\n\ndef second(key):\n    httpx.get(key)  #!",
        ),
    ],
    "LWL002": [
        fetching(f"async with asyncio.timeout(3):  #!\n    {GOOD_FETCH}"),
        fetching("return await asyncio.wait_for(call.get('/x').items(), 3)  #!"),
        fetching("return await call.get('/x', timeout=3).items()  #!"),
    ],
    "LWL003": [
        f"{HEAD}\n\nclass Fetching(Fetcher):  #!\n    pass\n",
        f"{HEAD}\n\nclass Fetching(Fetcher[dict]):  #!\n    pass\n",
        f"{HEAD}\n\nclass Fetching(Fetcher[Any]):  #!\n    pass\n",
        f"{HEAD}\n\nclass Fetching(Fetcher[dict[str, Any]]):  #!\n    pass\n",
        f'{HEAD}\n\n@app.type("quote", ttl="1 minute")\nasync def quote(call):  #!\n    return []\n',
    ],
    "LWL004": [
        f"{HEAD}\n\nclass Own:  #!\n    symbol: str\n\n\nclass Fetching(Fetcher[Own]):\n    pass\n",
        modelled("symbol: str", base="TypedDict")
        .replace("ClassVar", "ClassVar, TypedDict")
        .replace("class Own(TypedDict):", "class Own(TypedDict):  #!"),
    ],
    "LWL005": [
        modelled('model_config = ConfigDict(extra="allow")  #!\nsymbol: str'),
        modelled('model_config = {"extra": "ignore"}  #!\nsymbol: str'),
        f"{HEAD}\n\nclass Inner(BaseModel):  #!\n    name: str\n" + modelled("inner: list[Inner]").removeprefix(HEAD),
        modelled('class Config:\n    extra = "allow"  #!\nsymbol: str'),
        modelled("symbol: str", base='Model, extra="ignore"').replace('ignore"):', 'ignore"):  #!'),
        modelled("symbol: str\nmodel_config = ConfigDict(strict=True)", base="BaseModel").replace(
            "class Own(BaseModel):", "class Own(BaseModel):  #!"
        ),
    ],
    "LWL006": [
        modelled("model_config = ConfigDict(strict=False)  #!\nsymbol: str"),
        modelled("model_config = ConfigDict(coerce_numbers_to_str=True)  #!\nsymbol: str"),
        modelled("model_config = ConfigDict(allow_inf_nan=True)  #!\nsymbol: str"),
        modelled("symbol: str = Field(strict=False)  #!"),
        modelled('symbol: str\nmodel_config = ConfigDict(extra="forbid")', base="BaseModel").replace(
            "class Own(BaseModel):", "class Own(BaseModel):  #!"
        ),
    ],
    "LWL007": [
        fetching(f"try:\n    {GOOD_FETCH}\nexcept:  #!\n    return []"),
        fetching(f"try:\n    {GOOD_FETCH}\nexcept Exception:  #!\n    pass"),
        fetching(f"try:\n    {GOOD_FETCH}\nexcept (ValueError, BaseException) as error:  #!\n    print(error)"),
        fetching(f"with suppress(Exception):  #!\n    {GOOD_FETCH}", before="from contextlib import suppress"),
    ],
    "LWL008": [
        fetching(f"time.sleep(1)  #!\n{GOOD_FETCH}", before="import time"),
        fetching("return [open('rows.json').read()]  #!"),
        fetching("return [Path('rows').read_text()]  #!", before="from pathlib import Path"),
        fetching("return [run(['rows'])]  #!", before="from subprocess import run"),
        fetching(
            "return [address(call.key)]",
            before="import socket\ndef address(key):\n    return socket.gethostbyname(key)  #!",
        ),
        f"{HEAD}\nimport time\n\n@app.job('report')\nasync def report(job, ctx):\n    time.sleep(1)  #!\n",
    ],
    "LWL009": [
        fetching("await self.pool.execute('select 1')  #!\nreturn []"),
        fetching("await self.pool.fetch('insert into quotes values ($1)', call.key)  #!\nreturn []"),
        fetching("connection = await asyncpg.connect()  #!\nreturn []", before="import asyncpg"),
    ],
    "LWL010": [
        fetching(f"if call.data_type != 'quotes':  #!\n    return []\n{GOOD_FETCH}", decorator='@app.type("quote")'),
        fetching(GOOD_FETCH, decorator='@app.type("quote")').replace(
            "    async", "    data_type = 'quotes'  #!\n    async"
        ),
    ],
    "LWL011": [
        modelled("name: str | None = None  #!"),
        modelled("name: Optional[str] = Field(None)  #!"),
        modelled("name: str = ''  #!"),
        modelled("names: list[str] = Field(default_factory=list)  #!"),
        modelled("name: str | None = bounded(default=None, min_length=1)  #!"),
    ],
    "LWL013": [
        modelled("price: float  #!"),
        modelled("price: int | None = bounded(alias='p')  #!"),
        modelled("price: Optional[float]  #!"),
        modelled("price: Annotated[float, 'price']  #!"),
        modelled("price: float = bounded(source_time=False)  #!"),
    ],
}

GOOD: dict[str, list[str]] = {
    "LWL001": [
        fetching(GOOD_FETCH, before="import aiohttp\n\nasync def elsewhere():\n    aiohttp.ClientSession()"),
        fetching("return await call.get('/x', headers={'requests': 'no'}).items()"),
    ],
    "LWL002": [fetching(GOOD_FETCH, before="async def elsewhere():\n    async with asyncio.timeout(3):\n        pass")],
    "LWL003": [
        fetching(GOOD_FETCH),
        fetching(GOOD_FETCH, base="Fetcher").replace("    async", "    model = Row\n    async"),
        f"{HEAD}\nfrom elsewhere import Base\n\nclass Middle(Base, Fetcher):\n    pass\n",
        f'{HEAD}\n\n@app.type("quote", model=Row)\nasync def quote(call):\n    return []\n',
    ],
    "LWL004": [
        f"{HEAD}\nfrom .rows import Base\n\nclass Own(Base):\n    a: str\n\nclass Fetching(Fetcher[Own]):\n    pass\n"
    ],
    "LWL005": [
        modelled("symbol: str"),
        modelled('model_config = ConfigDict(extra="forbid", strict=True)\nsymbol: str', base="BaseModel"),
        f'{HEAD}\n\nclass Other(BaseModel):\n    model_config = ConfigDict(extra="allow")\n',
    ],
    "LWL006": [modelled("symbol: str = Field(strict=True)")],
    "LWL007": [
        fetching(f"try:\n    {GOOD_FETCH}\nexcept KeyError:\n    return []"),
        fetching(f"try:\n    {GOOD_FETCH}\nexcept Exception as error:\n    raise ValueError('rows') from error"),
    ],
    "LWL008": [
        fetching(f"await asyncio.sleep(1)\nawait asyncio.to_thread(time.sleep, 1)\n{GOOD_FETCH}", before="import time"),
        fetching(GOOD_FETCH, before="import time\n\ndef elsewhere():\n    time.sleep(1)"),
    ],
    "LWL009": [
        fetching("return await call.get('/select/1').items()"),
        fetching("text = call.key.join(['a'])\nreturn [text]"),
    ],
    "LWL010": [
        fetching(f"assert call.data_type == 'quote'\n{GOOD_FETCH}", decorator='@app.type("quote")'),
        fetching(f"assert call.data_type == 'quotes'\n{GOOD_FETCH}"),
    ],
    "LWL011": [modelled("kind: ClassVar[str] = 'x'\nname: str | None\nother: str | None = bounded(min_length=1)")],
    "LWL013": [
        modelled("a: float = bounded(gt=0)\nb: Annotated[int, Field(ge=0)]\nc: Optional[float] = Field(lt=9)"),
        modelled("names: list[str]\nflag: bool"),
        modelled("timestamp: int = bounded(source_time=True)"),
    ],
}
