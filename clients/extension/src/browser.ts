// What the extension uses of the browser and of its pages. Firefox knows `chrome`, too.

type Stored = { url?: string; key?: string };

declare const chrome: {
  storage: { local: { get(names: string[]): Promise<Stored>; set(values: Stored): Promise<void> } };
  tabs: { query(filter: { active: true; currentWindow: true }): Promise<{ url?: string; title?: string }[]> };
  permissions: { request(permissions: { origins: string[] }): Promise<boolean> };
  runtime: { openOptionsPage(): Promise<void> };
};

/** The address of the service and the key. They stay in this browser: `sync` would send the key to others. */
export const stored = (): Promise<Stored> => chrome.storage.local.get(["url", "key"]);
export const store = (values: Required<Stored>): Promise<void> => chrome.storage.local.set(values);

/** The tab at hand, if it shows a page of the web. */
export async function currentPage(): Promise<{ url: string; title: string } | null> {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const url = tab?.url ?? "";
  return /^https?:/.test(url) ? { url, title: tab?.title ?? "" } : null;
}

/** Asks the user whether the extension may call the service. Only at once after a click. */
export const mayCall = (url: URL): Promise<boolean> =>
  // Patterns have no port: they are for all ports of a host.
  chrome.permissions.request({ origins: [`${url.protocol}//${url.hostname}/*`] });

export const openSettings = (): Promise<void> => chrome.runtime.openOptionsPage();

/** The element with this id. */
export function element<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`No element ${id}.`);
  return found as Kind;
}

/** Do it while the page says so, and tell what went wrong. */
export async function attempt(action: () => Promise<string>): Promise<void> {
  const buttons = [...document.querySelectorAll("button")];
  element("problem").textContent = "";
  element("status").textContent = "…";
  for (const button of buttons) button.disabled = true;
  try {
    element("status").textContent = await action();
  } catch (error) {
    element("status").textContent = "";
    element("problem").textContent = error instanceof Error ? error.message : String(error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}
