// What a call can throw: the service refused it (ApiError), or no answer came (ConnectionFailed).

import type { CODES } from "../generated/errors.js";

/** A documented code, or one that a later service adds. */
export type ErrorCode = keyof typeof CODES | (string & {});

export type FieldError = { field: string; code: string; message: string; didYouMean?: string };

/** Base of everything that the client throws on purpose. */
export class ShortenerError extends Error {
  override name = "ShortenerError";
}

/** The address of the service or a credential is missing or unusable. */
export class ConfigurationError extends ShortenerError {
  override name = "ConfigurationError";
}

/** No complete answer came, after all attempts. A write may have happened. */
export class ConnectionFailed extends ShortenerError {
  override name = "ConnectionFailed";
  constructor(
    cause: unknown,
    readonly attempts: number,
  ) {
    super(`No answer after ${attempts} attempt${attempts === 1 ? "" : "s"}: ${String(cause)}`, { cause });
  }
}

/** Success, but not with what this service sends: another server answers at this address. */
export class UnexpectedAnswer extends ShortenerError {
  override name = "UnexpectedAnswer";
}

/** 304: what `ifNoneMatch` names is still current. */
export class NotModified extends ShortenerError {
  override name = "NotModified";
}

/** The service refused the call. `details` is the whole body of the answer. */
export class ApiError extends ShortenerError {
  override name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly requestId: string | null,
    /** Seconds, from `Retry-After`. */
    readonly retryAfter: number | null,
    readonly details: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }

  /** The broken rules, if the answer names any. */
  get fields(): FieldError[] {
    return (this.details["errors"] as FieldError[] | undefined) ?? [];
  }
}

/** Whether the service refused the call with one of these codes. */
export function isApiError(error: unknown, ...codes: ErrorCode[]): error is ApiError {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
}

/** The error that a response describes. A proxy may answer without the service's JSON: then the code is `http_STATUS`. */
export async function errorOf(response: Response, retryAfter: number | null): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const details = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const text = (key: string): string | null => {
    const value = details[key];
    return typeof value === "string" ? value : null;
  };
  return new ApiError(
    response.status,
    text("code") ?? `http_${response.status}`,
    text("message") ?? `The answer was ${response.status} without a reason.`,
    text("requestId") ?? response.headers.get("X-Request-ID"),
    retryAfter,
    details,
  );
}
