// One call with its repetitions: what is sent, and what may be sent again.

import { ApiError, ConfigurationError, ConnectionFailed } from "./errors.js";

export type CallHeaders = {
  workspace: string;
  prefer: string;
  ifMatch: string;
  ifNoneMatch: string;
  idempotencyKey: string;
};

/** What each method takes last: the headers that its operation knows, and a signal that ends the call. */
export type Options<Names extends keyof CallHeaders = never> = Partial<Pick<CallHeaders, Names>> & { signal?: AbortSignal };

type Value = string | number | boolean | undefined;

export type Call = {
  method: string;
  path: string;
  query?: Readonly<Record<string, Value>>;
  body?: unknown;
  options?: Options<keyof CallHeaders>;
  /** The operation accepts an Idempotency-Key, so that repeating it is safe. */
  idempotent?: boolean;
  /** `token`: a key is not accepted. */
  credential?: "token" | "none";
};

export type Settings = {
  baseUrl: string;
  apiKey: string | null;
  token: string | null;
  workspace: string | null;
  /** Attempts after the first. */
  retries: number;
  /** Seconds; a `Retry-After` beyond it is an error at once. */
  longestWait: number;
  /** Seconds until an attempt is given up. */
  timeout: number;
  userAgent: string | null;
};

const HEADERS: Record<keyof CallHeaders, string> = {
  workspace: "X-Workspace",
  prefer: "Prefer",
  ifMatch: "If-Match",
  ifNoneMatch: "If-None-Match",
  idempotencyKey: "Idempotency-Key",
};
const FIRST_WAIT = 0.5;
// Statuses after which the service has not acted, and those of a proxy that got no answer.
const REPEATED = new Set([429, 502, 503, 504]);

export class Exchange {
  #attempts = 0;
  readonly #repeatable: boolean;
  readonly url: string;
  readonly request: RequestInit;

  constructor(
    call: Call,
    private readonly settings: Settings,
  ) {
    const headers = new Headers(credentials(call, settings));
    if (settings.userAgent !== null) headers.set("User-Agent", settings.userAgent);
    for (const [name, header] of Object.entries(HEADERS) as [keyof CallHeaders, string][]) {
      const value = call.options?.[name];
      if (value !== undefined) headers.set(header, value);
    }
    // Made once per call, so that every attempt has the same one.
    if (call.idempotent && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", crypto.randomUUID());
    // Repeating a DELETE would find nothing.
    this.#repeatable = call.method === "GET" || call.method === "PUT" || headers.has("Idempotency-Key");
    this.request = { method: call.method, headers, redirect: "manual" };
    if (call.body !== undefined) {
      headers.set("Content-Type", "application/json");
      this.request.body = JSON.stringify(call.body);
    }
    const query = Object.entries(call.query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    this.url = settings.baseUrl + call.path + (query.length ? `?${new URLSearchParams(query)}` : "");
  }

  /** The seconds to wait before the next attempt. Throws if there is none: nobody knows whether the request arrived. */
  afterFailure(cause: unknown): number {
    this.#attempts += 1;
    if (this.#attempts > this.settings.retries || !this.#repeatable) throw new ConnectionFailed(cause, this.#attempts);
    return this.#usualWait();
  }

  afterError(error: ApiError): number {
    this.#attempts += 1;
    const wait = error.retryAfter ?? this.#usualWait();
    if (this.#attempts > this.settings.retries || !this.#mayRepeat(error) || wait > this.settings.longestWait) {
      throw error;
    }
    return wait;
  }

  #mayRepeat(error: ApiError): boolean {
    // The first attempt, whose answer was lost, is still at work.
    if (error.status === 429 || error.code === "idempotency_in_progress") return true;
    return this.#repeatable && REPEATED.has(error.status);
  }

  /** Doubles with each attempt; random, so that clients that failed together do not return together. */
  #usualWait(): number {
    const longest = Math.min(FIRST_WAIT * 2 ** (this.#attempts - 1), this.settings.longestWait);
    return longest * (0.5 + Math.random() / 2);
  }
}

function credentials(call: Call, { apiKey, token, workspace }: Settings): Record<string, string> {
  if (call.credential === "none") return {};
  const usesToken = token !== null && (call.credential === "token" || apiKey === null);
  const credential = usesToken ? token : apiKey;
  // A token of an issuer, which acts as a key, may be given as one.
  const bearer = usesToken || apiKey?.startsWith("eyJ");
  return {
    ...(credential === null ? {} : bearer ? { Authorization: `Bearer ${credential}` } : { "X-API-Key": credential }),
    ...(workspace !== null ? { "X-Workspace": workspace } : {}),
  };
}

/** Seconds from a `Retry-After` header: a number, or a date (RFC 9110, 10.2.3). Null if it is neither. */
export function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : Math.max(0, (until - Date.now()) / 1000);
}

/** Arguments come first, then the variables of the environment, where there is one. */
export function settingsFrom(given: Partial<Settings>, userAgent: string): Settings {
  const program = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  const environment = program?.env ?? {};
  const baseUrl = (given.baseUrl ?? environment["SHORTENER_URL"] ?? "").replace(/\/+$/, "");
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(baseUrl)) {
    throw new ConfigurationError("Pass baseUrl, or set SHORTENER_URL, such as https://example.com.");
  }
  const token = given.token ?? null;
  return {
    baseUrl,
    apiKey: given.apiKey ?? (token === null ? (environment["SHORTENER_API_KEY"] ?? null) : null),
    token,
    workspace: given.workspace ?? environment["SHORTENER_WORKSPACE"] ?? null,
    retries: given.retries ?? 3,
    longestWait: given.longestWait ?? 60,
    timeout: given.timeout ?? 30,
    // A browser has its own.
    userAgent: program === undefined ? null : userAgent,
  };
}
