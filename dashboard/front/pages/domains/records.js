/** The DNS records of a domain, and the result of the last check for each of them. */
import { lacks } from "../../core/account.js";
import { ApiError } from "../../core/api.js";
import { copy } from "../../core/clipboard.js";
import { messageOf } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { isolated, language, refusalText, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { verifyDomain } from "./endpoints.js";
import { load } from "./state.js";

/** @typedef {import("./endpoints.js").Check} Check */
/** @typedef {import("./endpoints.js").DnsRecord} DnsRecord */

const CORRECT = { ok: true, found: [], reason: null, advice: null, remove: [], add: [] };

/** The part of the name that DNS panels add themselves. @param {DnsRecord} record */
const zoneOf = ({ name, relativeName }) => (relativeName === "@" ? name : name.slice(relativeName.length + 1));

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function Records({ domain }) {
    const checks = useSignal(/** @type {Check[]} */ ([]));
    const problem = useSignal("");
    const isChecking = useSignal(false);
    const verify = async () => {
        isChecking.value = true;
        checks.value = [];
        problem.value = "";
        try {
            await verifyDomain(domain._id);
            checks.value = domain.dnsRecords.map(({ type, name }) => ({ type, name, ...CORRECT }));
            toast(t("domain.verified", { domain: domain.fullDomain }));
            await load();
        } catch (error) {
            problem.value = messageOf(error) ?? "";
            if (error instanceof ApiError && error.code === "dns_not_configured") {
                checks.value = /** @type {{checks: Check[]}} */ (error.data).checks;
                const count = checks.value.filter(({ ok }) => !ok).length;
                problem.value = t("records.wrong", { count, all: checks.value.length });
            }
        } finally {
            isChecking.value = false;
        }
    };
    return html`
        <h3>${t("records.title")}</h3>
        <p>${t("records.text", { zone: isolated(zoneOf(domain.dnsRecords[0])) })}</p>
        <div class="overflow-auto">
            <table class="records">
                <thead>
                    <tr>
                        <th scope="col">${t("records.type")}</th>
                        <th scope="col">${t("records.name")}</th>
                        <th scope="col">${t("records.value")}</th>
                    </tr>
                </thead>
                <tbody>
                    ${domain.dnsRecords.map(
                        record => html`<${Row} key=${record.type + record.value} record=${record} check=${checkOf(record, checks.value)} />`,
                    )}
                </tbody>
            </table>
        </div>
        <div class="actions">
            ${!lacks("admin") &&
            html`<button class=${domain.status === "pending" ? "primary" : undefined} aria-busy=${isChecking.value} disabled=${isChecking.value} onClick=${verify}>${t("domain.verify")}</button>`}
            ${problem.value && html`<p role="alert" class="failure">${problem.value}</p>`}
        </div>
    `;
}

/**
 * A check can cover records of two types: `A/AAAA`.
 * @param {DnsRecord} record
 * @param {Check[]} checks
 */
const checkOf = (record, checks) =>
    checks.find(({ type, name }) => name === record.name && type.split("/").includes(record.type));

/** @param {{record: DnsRecord, check?: Check}} properties */
function Row({ record, check }) {
    return html`
        <tr data-ok=${check?.ok}>
            <th scope="row">${record.type}</th>
            <td>
                <${Copied} text=${record.relativeName} />
                <small dir="ltr">${record.name}</small>
            </td>
            <td>
                <${Copied} text=${record.value} />
                ${check && html`<${Result} check=${check} />`}
            </td>
        </tr>
    `;
}

/** @param {{text: string}} properties */
const Copied = ({ text }) => html`
    <code dir="ltr">${text}</code>
    <button class="copy" aria-label=${t("records.copy", { text })} onClick=${() => copy(text)}>
        ${t("links.copyShort")}
    </button>
`;

/** @param {Check} check */
function adviceOf({ reason, advice, remove, add }) {
    const list = new Intl.ListFormat(language, { type: "conjunction" });
    /** @param {Check["remove"]} values */
    const named = values => list.format(values.map(({ type, value }) => t("records.one", { type, value: isolated(value) })));
    const corrections = [
        ...(remove.length > 0 ? [t("records.remove", { records: named(remove) })] : []),
        ...(add.length > 0 ? [t("records.add", { records: named(add) })] : []),
    ];
    return corrections.join(" ") || refusalText({ code: reason ?? "", message: advice ?? "" });
}

/** @param {{check: Check}} properties */
function Result({ check }) {
    if (check.ok) return html`<small class="found">${t("records.ok")}</small>`;
    return html`
        <small class="error" dir="auto">${adviceOf(check)}</small>
        ${check.found.length > 0 &&
        html`<small>${t("records.found")} <code dir="ltr">${check.found.join(", ")}</code></small>`}
    `;
}
