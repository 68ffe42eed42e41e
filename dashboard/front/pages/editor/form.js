/** The editor of a link: the form, and beside it, always in view, the short link, its QR code and what a visitor gets. */
import { lacks, may } from "../../core/account.js";
import { withScheme } from "../../core/addresses.js";
import { dateAndTime, day, number } from "../../core/format.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { listOf, textOfList } from "../../core/lists.js";
import { navigate } from "../../core/router.js";
import { HEALTH_CHECKS } from "../../core/status.js";
import { t } from "../../core/texts.js";
import { dismissDone, toast } from "../../core/toasts.js";
import { Bookmarklet } from "../../parts/bookmarklet.js";
import { Archived } from "../../parts/archived.js";
import { Dialog } from "../../parts/dialog.js";
import { Head, toLinks } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { LazyPage } from "../../parts/lazy.js";
import { MomentInput } from "../../parts/moment_input.js";
import { Health as HealthBadge } from "../../parts/health.js";
import { LinkStatus } from "../../parts/link_status.js";
import { Menu } from "../../parts/menu.js";
import { TagsInput } from "../../parts/tags_input.js";
import { Code } from "./code.js";
import { Field, Input, Section, Switch, hasError } from "./inputs.js";
import { Limits } from "./limits.js";
import { Live } from "./live.js";
import { REFERRER_POLICIES } from "./model.js";
import { FORM, SaveBar } from "./save_bar.js";
import { restOf } from "./shares.js";
import { Twin } from "./twin.js";
import { Utm } from "./utm.js";

/** @typedef {import("./editing.js").Editing} Editing */

/** @param {{editing: Editing}} properties */
export function Form({ editing }) {
    const { id } = editing;
    const isNew = id === null;
    /** @param {{overwrites?: boolean}} [options] */
    const save = async options => {
        // What was true of an earlier save is no news beside a failure of this one.
        dismissDone();
        const saved = await editing.save(options);
        if (saved === null) {
            requestAnimationFrame(showFirstError);
            return;
        }
        toast(t(isNew ? "editor.created" : "editor.saved"));
        if (isNew) navigate(`/dashboard/links/${saved}`, { replace: true });
    };
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        save();
    };
    return html`
        <${Heading} editing=${editing} />
        ${lacks("editor") && html`<p class="note warn in-page"><${Icon} name="lock" />${t("editor.readOnly")}</p>`}
        ${editing.link.value?.status === "banned" && html`<p class="note bad in-page" role="status"><${Icon} name="shield-alert" /><span>${t("banned.link")}</span></p>`}
        <div class="edit">
            <form
                class="editor"
                id=${FORM}
                data-link=${id ?? undefined}
                onSubmit=${submit}
                onInvalidCapture=${(/** @type {any} */ event) => reveal(event.target)}
            >
                <${Destination} editing=${editing} />
                <div class="grid pair">
                    <${Code} editing=${editing} />
                    <${Field} editing=${editing} name="title" label=${t("field.title")} maxlength="200" dir="auto" />
                    <${TagsInput}
                        name="tags"
                        label=${t("field.tags")}
                        values=${listOf(editing.fields.value.tags)}
                        error=${editing.errors.value.tags}
                        onChange=${(/** @type {string[]} */ tags) => editing.change({ tags: textOfList(tags) })}
                    />
                    <${Field} editing=${editing} name="description" label=${t("field.description")} maxlength="500" dir="auto" />
                </div>
                <div class="sections-of-link">
                    <${Rules} editing=${editing} />
                    <${Split} editing=${editing} />
                    <${Times} editing=${editing} />
                    <${Limits} editing=${editing} />
                    <${Utm} editing=${editing} />
                    <${Card} editing=${editing} />
                    <${Redirect} editing=${editing} />
                    <${Health} editing=${editing} />
                    ${isNew &&
                    html`<${Section} icon="link" title=${t("bookmarklet.title")} holds="" isWrong=${false}><${Bookmarklet} /><//>`}
                </div>
            </form>
            <${Live} editing=${editing} />
        </div>
        <${SaveBar} editing=${editing} onOverwrite=${() => save({ overwrites: true })} />
    `;
}

/** A field in a closed section cannot take the focus. @param {Element} field */
function reveal(field) {
    field.closest("details")?.setAttribute("open", "");
}

/** The focus goes to the first field that the API refused. */
function showFirstError() {
    const field = document.querySelector(`#${FORM} [aria-invalid=true]`);
    if (!(field instanceof HTMLElement)) return;
    reveal(field);
    field.focus();
}

/** @param {{editing: Editing}} properties */
function Heading({ editing }) {
    const link = editing.link.value;
    const isTelling = useSignal(false);
    if (link === null) {
        return html`<${Head} title=${t("editor.new")} back=${toLinks()}>
            <a class="button quiet" href="/dashboard/new/many"><${Icon} name="copy-plus" />${t("many.open")}</a>
        <//>`;
    }
    const remove = async () => {
        const { deleteLater } = await import("../links/deletion.js");
        deleteLater([link._id]);
        navigate("/dashboard/");
    };
    const items = () => html`
        <p><small>${t("summary.changed", { time: dateAndTime(link.updatedAt) })}</small></p>
        <a class="phone-only" href=${`/dashboard/links/${link._id}/history`}><${Icon} name="history" />${t("history.title")}</a>
        ${!lacks("editor") &&
        html`
            <a href=${`/dashboard/new?from=${link._id}`}><${Icon} name="copy-plus" />${t("editor.duplicate")}</a>
            ${may("admin") && html`<button onClick=${() => (isTelling.value = true)}><${Icon} name="info" />${t("tellMe.title")}</button>`}
            <button onClick=${() => editing.archive(!link.isArchived)}>
                <${Icon} name="archive" />${t(link.isArchived ? "archived.unarchive" : "archived.archive")}
            </button>
            <hr />
            <button class="danger" onClick=${remove}><${Icon} name="trash-2" />${t("editor.delete")}</button>
        `}
    `;
    return html`
        <${Head}
            title=${t("editor.edit")}
            shown=${link.title || withoutScheme(link.shortUrl)}
            back=${toLinks()}
            mark=${html`<${LinkStatus} link=${link} /><${Archived} link=${link} />`}
        >
            <a class="button" href=${`/dashboard/links/${link._id}/report`} aria-label=${t("summary.clicks", { count: link.clickCount })}>
                <${Icon} name="chart-no-axes-column" /><span class="wide-only">${t("summary.clicks", { count: link.clickCount })}</span>
                <span class="phone-only">${number(link.clickCount)}</span>
            </a>
            <a class="button quiet wide-only" href=${`/dashboard/links/${link._id}/history`}><${Icon} name="history" />${t("history.title")}</a>
            <${Menu} id="link-menu" label=${t("nav.more")} items=${items} />
        <//>
        <${Dialog} isOpen=${isTelling} title=${t("tellMe.title")}>
            <${LazyPage} load=${loadTellMe} link=${link} isOpen=${isTelling} />
        <//>
    `;
}

/** @param {{editing: Editing}} properties */
function Destination({ editing }) {
    const isNew = editing.id === null;
    const name = isNew ? "originalUrl" : "targetUrl";
    const { originalUrl } = editing.fields.value;
    const link = editing.link.value;
    const isMoved = !isNew && editing.fields.value.targetUrl.trim() !== originalUrl;
    useEffect(() => {
        if (isNew) document.getElementsByName(name)[0]?.focus();
    }, []);
    return html`<${Field}
        editing=${editing}
        name=${name}
        label=${t("field.originalUrl")}
        required=${isNew}
        inputmode="url"
        dir="ltr"
        autocomplete="off"
        autocapitalize="none"
        spellcheck=${false}
        placeholder=${isNew ? "https://" : undefined}
        class="large"
        hint=${html`
            ${isMoved && html`${t("hint.createdFor")} <span class="url">${originalUrl}</span>${" "}`}
            ${link !== null && html`<${HealthBadge} link=${link} />`}
            <${Twin} address=${editing.fields.value[name]} id=${editing.id} />
        `}
        onChange=${(/** @type {any} */ event) => editing.change({ [name]: withScheme(event.target.value) })}
    />`;
}

const loadTellMe = () => import("./tell_me.js").then(({ TellMe }) => ({ Page: TellMe }));
const loadRules = () => import("./rule_rows.js").then(({ RuleRows }) => ({ Page: RuleRows }));
const loadSplit = () => import("./split_rows.js").then(({ SplitRows }) => ({ Page: SplitRows }));

/**
 * Destinations for some visitors. The first rule whose conditions all hold decides.
 * @param {{editing: Editing}} properties
 */
function Rules({ editing }) {
    const { length } = editing.fields.value.rules;
    const holds = length === 0 ? t("rules.none") : t("rules.count", { count: length });
    return html`
        <${Section} icon="route" title=${t("section.rules")} holds=${holds} isWrong=${hasError(editing, ["rules"])} isEmpty=${length === 0}>
            <${LazyPage} load=${loadRules} editing=${editing} />
        <//>
    `;
}

/** Destinations that get a share of the visitors. @param {{editing: Editing}} properties */
function Split({ editing }) {
    const { split } = editing.fields.value;
    const holds = split.length === 0 ? t("split.none") : [...split.map(({ weight }) => weight), restOf(split)].map(share => `${share} %`).join(" · ");
    return html`
        <${Section} icon="split" title=${t("section.split")} holds=${holds} isWrong=${hasError(editing, ["split"])} isEmpty=${split.length === 0}>
            <${LazyPage} load=${loadSplit} editing=${editing} />
        <//>
    `;
}

/** @param {{editing: Editing}} properties */
function Times({ editing }) {
    const { startsAt, expiresAt, isActive } = editing.fields.value;
    const isOver = expiresAt !== "" && expiresAt !== editing.before.expiresAt && new Date(expiresAt) <= new Date();
    const parts = [
        !isActive && t("status.disabled"),
        startsAt && t("times.from", { day: day(startsAt) }),
        expiresAt && t("times.until", { day: day(expiresAt) }),
    ];
    return html`
        <${Section}
            icon="calendar-clock"
            title=${t("section.times")}
            holds=${parts.filter(Boolean).join(" · ") || t("times.always")}
            isWrong=${hasError(editing, ["isActive", "startsAt", "expiresAt", "notStartedUrl", "expiredUrl"])}
        >
            <${Switch} editing=${editing} name="isActive" label=${t("field.isActive")} />
            <${Moment} editing=${editing} name="startsAt" label=${t("field.startsAt")} zoneLabel=${t("times.zoneOfStart")} />
            <${Field} editing=${editing} name="notStartedUrl" type="url" dir="ltr" label=${t("field.notStartedUrl")} />
            <${Moment} editing=${editing} name="expiresAt" label=${t("field.expiresAt")} zoneLabel=${t("times.zoneOfExpiry")} />
            <${Field} editing=${editing} name="expiredUrl" type="url" dir="ltr" label=${t("field.expiredUrl")} />
            ${isOver && html`<p class="note warn" role="status"><${Icon} name="triangle-alert" />${t("times.over")}</p>`}
        <//>
    `;
}

/** @param {{editing: Editing, name: "startsAt" | "expiresAt", label: string, zoneLabel: string}} properties */
const Moment = ({ editing, name, ...more }) => html`
    <${MomentInput}
        name=${name}
        value=${editing.fields.value[name]}
        error=${editing.errors.value[name]}
        onValue=${(/** @type {string} */ value) => editing.change({ [name]: value })}
        ...${more}
    />
`;

/**
 * The card that messengers show instead of that of the destination.
 * @param {{editing: Editing}} properties
 */
function Card({ editing }) {
    const { preview } = editing.fields.value;
    const lengths = { title: 200, description: 500, imageUrl: 2048 };
    return html`
        <${Section} icon="image" title=${t("section.preview")} holds=${preview.title || t(preview.imageUrl ? "preview.image" : "preview.none")} isWrong=${hasError(editing, ["preview"])}>
            <p><small>${t("preview.text")}</small></p>
            ${(/** @type {(keyof typeof lengths)[]} */ (Object.keys(lengths))).map(
                name => html`
                    <${Input}
                        key=${name}
                        name=${`preview.${name}`}
                        type=${name === "imageUrl" ? "url" : "text"}
                        maxlength=${lengths[name]}
                        dir=${name === "imageUrl" ? "ltr" : "auto"}
                        label=${t(`preview.${name}`)}
                        value=${preview[name]}
                        error=${editing.errors.value[`preview.${name}`]}
                        onValue=${(/** @type {string} */ value) => editing.change({ preview: { ...preview, [name]: value } })}
                    />
                `,
            )}
        <//>
    `;
}

/** @param {{editing: Editing}} properties */
function Redirect({ editing }) {
    const { redirectType, forwardQuery, referrerPolicy } = editing.fields.value;
    const holds = [t(redirectType === "301" ? "redirect.301" : "redirect.302"), forwardQuery && t("redirect.forwards")];
    return html`
        <${Section} icon="settings" title=${t("section.redirect")} holds=${holds.filter(Boolean).join(" · ")} isWrong=${hasError(editing, ["redirectType", "referrerPolicy"])}>
            <label>
                ${t("field.redirectType")}
                <select
                    name="redirectType"
                    value=${redirectType}
                    onChange=${(/** @type {any} */ event) => editing.change({ redirectType: event.target.value })}
                >
                    <option value="302">${t("redirect.302")}</option>
                    <option value="301">${t("redirect.301")}</option>
                </select>
            </label>
            <${Switch} editing=${editing} name="forwardQuery" label=${t("field.forwardQuery")} />
            <label>
                ${t("field.referrerPolicy")}
                <select
                    name="referrerPolicy"
                    value=${referrerPolicy}
                    onChange=${(/** @type {any} */ event) => editing.change({ referrerPolicy: event.target.value })}
                >
                    <option value="">${t("referrerPolicy.none")}</option>
                    ${REFERRER_POLICIES.map(policy => html`<option key=${policy} value=${policy}>${t(`referrerPolicy.${policy}`)}</option>`)}
                </select>
            </label>
        <//>
    `;
}

/**
 * Whether the destination still answers, and where visitors go if it does not.
 * @param {{editing: Editing}} properties
 */
function Health({ editing }) {
    const { healthCheck } = editing.fields.value;
    const { status, checkedAt } = editing.link.value?.health ?? { status: /** @type {const} */ ("unknown"), checkedAt: null };
    const found = checkedAt === null ? t("health.unknown") : t("health.found", { status: t(`health.${status}`), time: dateAndTime(checkedAt) });
    return html`
        <${Section} icon="unplug" title=${t("section.health")} holds=${found} isWrong=${hasError(editing, ["healthCheck", "fallbackUrl"])}>
            <label>
                ${t("field.healthCheck")}
                <select
                    name="healthCheck"
                    value=${healthCheck}
                    onChange=${(/** @type {any} */ event) => editing.change({ healthCheck: event.target.value })}
                >
                    <option value="">${t("healthCheck.workspace")}</option>
                    ${HEALTH_CHECKS.map(frequency => html`<option key=${frequency} value=${frequency}>${t(`healthCheck.${frequency}`)}</option>`)}
                </select>
            </label>
            <${Field} editing=${editing} name="fallbackUrl" type="url" dir="ltr" label=${t("field.fallbackUrl")} />
        <//>
    `;
}
