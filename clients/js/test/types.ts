// Checked by tsc, never run: what `livewell types export --ts` declares is what an application sees.
import { connect, type Live, type Snapshot } from "@livewell/client";
import { useAge, useConnection, useItem } from "@livewell/client/react.js";

declare module "@livewell/client" {
  interface Types {
    quote: { symbol: string; price: number | null };
  }
}

const live: Live = connect({ url: "/", token: async () => undefined });
live.watch("quote", "AAPL", ({ data }) => data?.price?.toFixed(2)).stop();
const snapshot: Snapshot<{ symbol: string; price: number | null }> = live.item("quote", "AAPL").getSnapshot();
const symbol: string | undefined = useItem("quote", "AAPL").data?.symbol;
const price: number | null | undefined = useItem("quote", "AAPL", { select: (quote) => quote.price }).data;
const sure: string = useItem("quote", "AAPL", { initial: { symbol: "AAPL", price: 1 } }).data.symbol;
const age: number | null = useAge(useItem("quote", "AAPL"), 500);
const status: "idle" | "connecting" | "open" | "waiting" | "refused" | "closed" = useConnection().status;

// @ts-expect-error: there is no such type
live.watch("quotes", "AAPL");
// @ts-expect-error: a key is text
useItem("quote", 7);
// @ts-expect-error: nor is there such a field
useItem("quote", "AAPL").data?.prize;

export { age, price, snapshot, status, sure, symbol };
