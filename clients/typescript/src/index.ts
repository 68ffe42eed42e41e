// A typed client of the API of the URL shortener. It needs nothing but fetch.

import { Operations, VERSION } from "./generated/operations.js";
import { type Settings, settingsFrom } from "./runtime/exchange.js";

export type * as types from "./generated/types.js";
export * from "./runtime/errors.js";
export { headersOf } from "./runtime/transport.js";
export { VERSION };

export type ClientOptions = Partial<Omit<Settings, "userAgent">> & {
  /** Added to the User-Agent, such as `my-program/1.2`. Browsers send their own. */
  userAgent?: string;
  /** In place of the global one. */
  fetch?: typeof globalThis.fetch;
};

/**
 * The service at `baseUrl` for the owner of `apiKey` or `token`. Without them, those of the environment are used:
 * SHORTENER_URL, SHORTENER_API_KEY, SHORTENER_WORKSPACE.
 */
export class Client extends Operations {
  constructor({ fetch, userAgent, ...given }: ClientOptions = {}) {
    const own = `shortener-client-typescript/${VERSION}`;
    super(settingsFrom(given, userAgent === undefined ? own : `${userAgent} ${own}`), fetch);
  }
}
