/** The content of the dialog that shares a report with people without an account, and lists what is shared. */
import { dateAndTime, day } from "../../core/format.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { isolated, t, textOr } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { createView, listViews } from "../../core/view_endpoints.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Input, Submit } from "../../parts/input.js";
import { MomentField } from "../../parts/moment_input.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Secret } from "../../parts/secret.js";
import { Sending } from "../../parts/sending.js";
import { addressOfReport, reportOf } from "../analytics/campaigns.js";
import { periodOf } from "./period.js";
import { createShare, deleteShare, listShares } from "./share_endpoints.js";

/** @typedef {import("../../core/view_endpoints.js").SavedView} SavedView */
/** @typedef {import("./share_endpoints.js").Share} Share */
/** @typedef {import("../../core/html.js").Signal<string | null>} Known */

/** The parameters of a report that a share of a link has of its own, or that its page does not show. */
const OF_LINK = new Set(["period", "timezone", "interval", "compare"]);

/** @param {{urlId: string | null}} properties null: the report of the workspace */
export function Sharing({ urlId }) {
    const views = useLoaded(listViews);
    const shares = useLoaded(listShares);
    // The new share, and the address of its page, which is shown once.
    const made = useSignal(/** @type {string | null} */ (null));
    const address = useSignal(/** @type {string | null} */ (null));
    /** @param {string} id */
    const onRevoked = async id => {
        if (id === made.value) address.value = null;
        await shares.refresh();
    };
    return html`
        ${views.value === null ? html`<${Pending} of=${views} />` : html`<${Form} urlId=${urlId} views=${views.value} made=${made} address=${address} onDone=${shares.refresh} />`}
        ${shares.value === null ? html`<${Pending} of=${shares} />` : html`<${Shares} shares=${shares.value} onRevoked=${onRevoked} />`}
    `;
}

/** @param {{urlId: string | null, views: SavedView[], made: Known, address: Known, onDone: () => Promise<void>}} properties */
function Form({ urlId, views, made, address, onDone }) {
    const sending = useMemo(() => new Sending(), []);
    const name = useSignal("");
    const password = useSignal("");
    const expiresAt = useSignal("");
    const noIndex = useSignal(true);
    const report = reportOf(query.value);
    const { zone } = periodOf(query.value);
    const isOfLink = urlId !== null && Object.keys(report).every(parameter => OF_LINK.has(parameter));
    const current = addressOfReport(report);
    const view = urlId === null ? views.find(({ report: kept }) => kept !== null && addressOfReport(kept) === current) : undefined;
    // Anything else needs a campaign, which keeps it.
    const needsName = !isOfLink && view === undefined;
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        await sending.run(async () => {
            const common = { password: password.value || null, expiresAt: expiresAt.value || null, noIndex: noIndex.value };
            /** @type {import("./share_endpoints.js").ShareFields} */
            let subject = { viewId: view?._id };
            if (isOfLink) subject = { urlId, period: /** @type {any} */ (report.period ?? "30d"), timezone: zone };
            else if (needsName) {
                const selection = urlId === null ? report : { ...report, urlIds: urlId };
                const kept = { name: name.value.trim(), filters: {}, report: { timezone: zone, ...selection } };
                subject = { viewId: (await createView(kept)).view._id };
            }
            const created = await createShare({ ...subject, ...common }, sending.idempotencyKey);
            made.value = created.share._id;
            address.value = created.address;
        });
        await onDone();
    };
    if (address.value !== null) return html`<p>${t("sharing.shared")}</p><p class="shared"><${Secret} value=${address} /></p>`;
    return html`
        <form onSubmit=${submit}>
            <p>${t("sharing.text")}</p>
            ${view !== undefined && html`<p>${t("sharing.view", { name: isolated(view.name) })}</p>`}
            ${needsName &&
            html`<${Input} sending=${sending} name="name" label=${t("views.name")} hint=${t("sharing.nameText")} value=${name} type="text" required maxlength="60" dir="auto" autocomplete="off" />`}
            <${Input} sending=${sending} name="password" label=${t("sharing.password")} hint=${t("sharing.optional")} value=${password} type="text" maxlength="128" autocomplete="off" />
            <${MomentField} sending=${sending} name="expiresAt" label=${t("apiKeys.expiresAt")} zoneLabel=${t("times.zoneOfExpiry")} hint=${t("apiKeys.expiryHint")} value=${expiresAt} />
            <label>
                <input type="checkbox" name="noIndex" checked=${noIndex.value} onChange=${(/** @type {any} */ event) => (noIndex.value = event.target.checked)} />
                ${t("sharing.noIndex")}
            </label>
            <${Submit} sending=${sending} fields=${["name", "password", "expiresAt"]} label=${t("sharing.create")} />
        </form>
    `;
}

/** What tells the shares of one report apart. @param {Share} share */
function detailsOf({ status, hasPassword, period, viewId, createdAt, expiresAt }) {
    // A view without a period has its own.
    const range = period ?? (viewId === null ? "all" : null);
    return [
        t(`sharing.${status}`),
        hasPassword && t("state.password"),
        range !== null && textOr(`report.range.${range === "12mo" ? "12m" : range}`, range),
        t("sharing.created", { day: day(createdAt) }),
        expiresAt !== null && t("sharing.expires", { time: dateAndTime(expiresAt) }),
    ]
        .filter(Boolean)
        .join(" · ");
}

/** @param {{shares: Share[], onRevoked: (id: string) => Promise<void>}} properties */
function Shares({ shares, onRevoked }) {
    if (shares.length === 0) return null;
    /** @param {Share} share */
    const revoke = async ({ _id }) => {
        await deleteShare(_id);
        toast(t("sharing.revoked"));
        await onRevoked(_id);
    };
    return html`
        <h2>${t("sharing.list")}</h2>
        <ul class="shares">
            ${shares.map(share => {
                const name = isolated(share.name ?? t("sharing.gone"));
                return html`
                    <li key=${share._id} data-share=${share._id}>
                        <div>
                            <span dir="auto">${share.name ?? t("sharing.gone")}</span>
                            <small>${detailsOf(share)}</small>
                        </div>
                        <${Confirmation} label=${t("sharing.revoke")} about=${t("sharing.revokeOf", { name })} question=${t("sharing.revokeText")} action=${() => revoke(share)} />
                    </li>
                `;
            })}
        </ul>
    `;
}
