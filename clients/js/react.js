import * as React from "react";
import { NOTHING, alike, noting } from "./items.js";

/** @import * as api from "./react.d.ts" */

const { useSyncExternalStore } = React;
const Context = React.createContext(/** @type {any} */ (null));

/** @type {typeof api.LivewellProvider} */
export const LivewellProvider = ({ live, children }) =>
  React.createElement(Context.Provider, { value: live }, children);

/** @type {typeof api.useLive} */
export const useLive = () => {
  const live = React.useContext(Context);
  if (!live) throw Error("no LivewellProvider is around this");
  return live;
};

/** @type {(type: string, key: string, options?: api.ItemOptions<any, any>) => any} */
export const useItem = (type, key, { enabled = true, initial, select } = {}) => {
  const live = useLive();
  const item = React.useMemo(() => (enabled ? live.item(type, key) : NOBODY), [live, type, key, enabled]);
  const last = React.useRef(/** @type {any} */ ({})).current;
  const see = (snapshot = item.getSnapshot()) => {
    if (last.snapshot === snapshot && last.select === select && last.item === item) return last.view;
    let { data = initial } = snapshot;
    if (select && data !== undefined) data = select(data);
    if (alike(data, last.now?.data)) data = last.now?.data;
    const now = { ...snapshot, data };
    const isNew = last.item !== item || [...last.read].some((name) => now[name] !== last.now[name]);
    Object.assign(last, { snapshot, select, item, now }, isNew && noting(() => last.now));
    return last.view;
  };
  return useSyncExternalStore(item.subscribe, () => see(), () => see(NOTHING));
};

/** @type {typeof api.useAge} */
export const useAge = ({ age }, every = 1000) => {
  const tick = React.useCallback((/** @type {() => void} */ then) => {
    const timer = setInterval(then, every);
    return () => clearInterval(timer);
  }, [every]);
  const now = () => age() && Math.floor(Number(age()) / every) * every;
  return useSyncExternalStore(tick, now, () => null);
};

/** @type {typeof api.useConnection} */
export const useConnection = () => {
  const { subscribe, getSnapshot } = useLive().connection;
  return useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
};

const NOBODY = { subscribe: () => () => {}, getSnapshot: () => NOTHING };
