/** Calls of the public API. Everything that the dashboard shows or changes goes through here. */
import { signal } from "./html.js";
import { SignedOut, accessToken, dropToken, needsConfirmation, signIn } from "./session.js";
import { language, refusalText, t, textOr } from "./texts.js";
import { toast } from "./toasts.js";
import { workspaceId } from "./workspace.js";

/** @typedef {{field: string, code: string, message: string}} FieldError */

/** Whether the last call got no response from the API. */
export const isAway = signal(false);
/** Counts the responses with status 404. The account may have left the workspace of this page. */
export const notFound = signal(0);
/** Whether a call takes unusually long. */
export const isSlow = signal(false);

/** The code of calls about keys, if the login was some time ago. */
export const NEEDS_CONFIRMATION = "confirmation_required";

const SLOW_MILLISECONDS = 3_000;
const TIMEOUT_MILLISECONDS = 60_000;
/** As long as the service sends a file. */
const DOWNLOAD_MILLISECONDS = 600_000;
/** Codes with status 503 that say what to do; after the others, the service is away. */
const WITH_ADVICE = ["report_too_slow", "busy"];
/** @type {Set<symbol>} */
const slowCalls = new Set();

/** An error response of the API. `status` 0: no response. */
export class ApiError extends Error {
    /**
     * @param {number} status
     * @param {string} code
     * @param {string} message
     * @param {FieldError[]} [errors]
     * @param {unknown} [data] what some refusals explain, such as the checks of a verification
     */
    constructor(status, code, message, errors = [], data = null) {
        super(message);
        this.status = status;
        this.code = code;
        this.errors = errors;
        this.data = data;
    }

    /** Whether the service understood the call and changed nothing. */
    get isRefused() {
        return this.status >= 400 && this.status < 500;
    }
}

/**
 * @typedef {object} Options
 * @property {Record<string, string | number | boolean | undefined>} [query]
 * @property {unknown} [body]
 * @property {string} [idempotencyKey] repeating a call with the same key is safe
 * @property {string} [ifNoneMatch] the version that is known: if there is no other one, the status is 304, without a body
 * @property {string} [ifMatch] the version that an update expects. If there is another one, its status is 412.
 * @property {AbortSignal} [signal]
 * @property {boolean} [keepalive] the call goes on when the page is closed
 * @property {number} [timeout] milliseconds for the whole response
 */

/**
 * The whole body of the response, for the few endpoints without `data`. Throws as `call` does.
 * @param {string} method
 * @param {string} path below /api
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function callForBody(method, path, options = {}) {
    const response = await send(method, path, options);
    // The connection can also break in the middle of a response.
    return reach(response.json());
}

/**
 * The `data` of the response, whose warnings the page shows. Throws ApiError, SignedOut, or an AbortError if `signal` was
 * aborted.
 * @param {string} method
 * @param {string} path below /api
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, options = {}) {
    const { data, warnings } = await callForBody(method, path, options);
    for (const { message } of inOwnLanguage(warnings)) toast(message);
    return data;
}

/**
 * The result of `call`, and the version of the object. A compressing proxy makes its tag weak, which changes nothing.
 * @param {string} path
 */
export async function readWithVersion(path) {
    const response = await send("GET", path, {});
    const { data } = await reach(response.json());
    return { data, version: response.headers.get("ETag")?.replace(/^W\//, "") };
}

/**
 * For what is read again and again: a function like `call`, which returns its last result while that has not changed.
 * @returns {(path: string, options: Options) => Promise<any>}
 */
export function repeatedRead() {
    let last = { asked: "", version: "", data: /** @type {any} */ (null) };
    return async (path, options) => {
        const asked = JSON.stringify([path, options.query]);
        const ifNoneMatch = asked === last.asked ? last.version : undefined;
        const response = await send("GET", path, { ...options, ifNoneMatch });
        if (response.status === 304) return last.data;
        const { data } = await reach(response.json());
        last = { asked, version: response.headers.get("ETag") ?? "", data };
        return data;
    };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 */
export async function download(method, path, options) {
    const response = await send(method, path, { timeout: DOWNLOAD_MILLISECONDS, ...options });
    const name = nameIn(response.headers.get("Content-Disposition") ?? "");
    return { name, content: await response.blob() };
}

/** The name of a file (RFC 6266). @param {string} disposition */
export function nameIn(disposition) {
    const [, encoded, plain = "download"] = /filename\*=utf-8''([^;]+)|filename="([^"]+)"/i.exec(disposition) ?? [];
    return encoded === undefined ? plain : decodeURIComponent(encoded);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 */
async function send(method, path, options) {
    const done = watch();
    try {
        const token = await reach(accessToken(), method);
        let response = await reach(request(method, path, options, token), method);
        if (response.status === 401) {
            // The token may have ended early. Requesting another one shows whether the session has ended, too.
            dropToken(token);
            response = await reach(request(method, path, options, await reach(accessToken())), method);
        }
        if (response.status === 401) {
            signIn.value = "out";
            throw new SignedOut();
        }
        const refused = response.ok || response.status === 304 ? null : await refusal(response, method);
        isAway.value = response.status === 503 && !WITH_ADVICE.includes(refused?.code ?? "");
        if (response.status === 404) notFound.value++;
        if (refused !== null) throw refused;
        return response;
    } finally {
        done();
    }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 * @param {string} token
 */
function request(method, path, { query = {}, body, idempotencyKey, ifMatch, ifNoneMatch, signal: aborted, keepalive, timeout = TIMEOUT_MILLISECONDS }, token) {
    const url = new URL(`/api${path}`, location.origin);
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
    }
    // Mails that the call sends are in the language of the page.
    const headers = new Headers({ Authorization: `Bearer ${token}`, "Accept-Language": language });
    if (workspaceId !== null) headers.set("X-Workspace", encodeURIComponent(workspaceId));
    if (body !== undefined) headers.set("Content-Type", "application/json");
    if (ifMatch !== undefined) headers.set("If-Match", ifMatch);
    if (ifNoneMatch) headers.set("If-None-Match", ifNoneMatch);
    if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
    const limits = [AbortSignal.timeout(timeout), ...(aborted ? [aborted] : [])];
    return fetch(url, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "omit",
        cache: "no-store",
        keepalive,
        signal: AbortSignal.any(limits),
    });
}

/**
 * Turns a failure of the network into an ApiError.
 * @template T
 * @param {Promise<T>} answer
 * @param {string} [method]
 * @returns {Promise<T>}
 */
async function reach(answer, method = "GET") {
    try {
        return await answer;
    } catch (error) {
        if (error instanceof SignedOut || isAbort(error)) throw error;
        isAway.value = true;
        throw new ApiError(0, "away", awayText(method));
    }
}

/** @param {unknown} error */
export const isAbort = error => error instanceof DOMException && error.name === "AbortError";

/** What is read has no input that could be lost. @param {string} method */
const awayText = method => t(method === "GET" ? "error.awayRead" : "error.away");

/**
 * @param {Response} response
 * @param {string} method
 */
async function refusal(response, method) {
    try {
        const { code, message, errors, data } = await response.json();
        if (response.status === 503 && !WITH_ADVICE.includes(code)) return new ApiError(503, "unavailable", awayText(method));
        if (code === "rate_limited") return tooMany(response);
        if (code === NEEDS_CONFIRMATION) needsConfirmation.value = true;
        if (code === "role_required" && data?.role) return new ApiError(response.status, code, roleText(data.role));
        const broken = inOwnLanguage(errors, data);
        // As in the API's own message: the first broken rule.
        const text = broken.length > 0 ? `${broken[0].field}: ${broken[0].message}` : refusalText({ code, message });
        return new ApiError(response.status, code, text, broken, data);
    } catch {
        if (response.status === 429) return tooMany(response);
        if (response.status === 503) return new ApiError(503, "unavailable", awayText(method));
        return new ApiError(response.status, "unknown", t("error.unknown", { status: response.status }));
    }
}

/** @param {string} role */
const roleText = role => t("error.role", { role: textOr(`role.${role}`, role) });

/** @param {Response} response */
const tooMany = ({ status, headers }) =>
    new ApiError(status, "rate_limited", t("error.limit", { wait: waitOf(Number(headers.get("Retry-After") ?? 1)) }));

/** @param {number} seconds */
const waitOf = seconds =>
    seconds < 100 ? t("wait.seconds", { count: seconds }) : t("wait.minutes", { count: Math.ceil(seconds / 60) });

/**
 * @param {FieldError[]} [errors]
 * @param {Record<string, any> | null} [data] of the response
 * @returns {FieldError[]}
 */
export const inOwnLanguage = (errors = [], data = null) => errors.map(error => ({ ...error, message: refusalText(error, data) }));

/** Marks the service as slow until the returned function is called. */
function watch() {
    const id = Symbol();
    const timer = setTimeout(() => {
        slowCalls.add(id);
        isSlow.value = true;
    }, SLOW_MILLISECONDS);
    return () => {
        clearTimeout(timer);
        slowCalls.delete(id);
        isSlow.value = slowCalls.size > 0;
    };
}
