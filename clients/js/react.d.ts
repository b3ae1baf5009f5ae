import type { ReactNode } from "react";
import type { Connection, Live, Snapshot, TypeName, Value } from "./livewell.d.ts";

export interface ItemOptions<V, S> {
  /** Whether to look at all; true if left out. */
  enabled?: boolean;
  /** Shown until there is a value, and on the server. */
  initial?: V;
  /** The part that is needed: while it stays the same, nothing is rendered. */
  select?: (value: V) => S;
}

/** An item as a component sees it. Only what it reads of it renders it again. */
export type ItemView<V> = Omit<Snapshot<V>, "version">;

/** Gives the components below it the client made by `connect`. */
export function LivewellProvider(props: { live: Live; children?: ReactNode }): ReactNode;

/** The client of the provider around this. */
export function useLive(): Live;

/** Look at an item while the component is there. */
export function useItem<T extends TypeName, S = Value<T>>(
  type: T,
  key: string,
  options: ItemOptions<Value<T>, S> & { initial: Value<T> },
): ItemView<S> & { readonly data: S };
export function useItem<T extends TypeName, S = Value<T>>(
  type: T,
  key: string,
  options?: ItemOptions<Value<T>, S>,
): ItemView<S>;

/** The age of an item in milliseconds, in steps of `every` (1,000): the component that asks is the only one that ticks. */
export function useAge(item: Pick<Snapshot, "age">, every?: number): number | null;

/** How the connection is. */
export function useConnection(): Connection;
