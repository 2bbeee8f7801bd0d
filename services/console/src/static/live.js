/**
 * Reloads the page in place when the server reports a change. Replaces only regions that differ, and none in which the reader
 * is typing or choosing. Rows of a list stay in place while the reader uses it. A hidden page is not refreshed.
 */
import { showTimes } from './times.js';

/** Address of the watched page, without the fragment. */
const ownAddress = () => `${location.pathname}${location.search}`;

/** Shorter interruptions are not shown, because a watch reconnects by itself, milliseconds. */
const staleAfterMs = 10_000;

/** Interval for checking a list that the reader holds, milliseconds. */
const releaseMs = 500;

let source;
let staleTimer;

async function refresh() {
  // Only actions of the reader extend the session.
  const headers = { accept: 'text/html', 'tollgate-unattended': '1' };
  const answer = await fetch(ownAddress(), { headers }).catch(() => undefined);
  // Data must not stay on the screen after the session has ended.
  if (answer?.status === 401) return location.reload();
  if (answer?.ok !== true) return;
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = next.title;
  for (const region of document.querySelectorAll('[data-region]')) {
    const made = next.getElementById(region.id);
    if (made === null) continue;
    region.news = made.innerHTML === region.source ? undefined : made;
    update(region);
  }
}

function update(region) {
  if (region.news !== undefined && isAtWork(region)) return;
  if (region.news === undefined || !isHeld(region)) return showAll(region);
  const count = patchRows(region, region.news);
  announce(region, count);
}

/** Replaces the region, and keeps opened details, unchecked boxes, the keyboard focus and the horizontal scroll position. */
function showAll(region) {
  region.querySelector('.news')?.remove();
  const { news } = region;
  if (news === undefined) return;
  const opened = [...region.querySelectorAll('details[open][id]')].map(({ id }) => id);
  const unchecked = [...region.querySelectorAll('input[type="checkbox"]:not(:checked)')].map(
    ({ name }) => name,
  );
  const at = keyOf(region.querySelector('tr.at'));
  const scrolled = region.querySelector('.wide')?.scrollLeft ?? 0;
  region.replaceChildren(...document.importNode(news, true).childNodes);
  region.news = undefined;
  remember(region);
  for (const id of opened) region.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
  for (const name of unchecked) region.querySelector(`[name="${CSS.escape(name)}"]`).checked = false;
  if (at !== undefined) rowsByKey(region).get(at)?.classList.add('at');
  const wide = region.querySelector('.wide');
  if (wide !== null) wide.scrollLeft = scrolled;
  showTimes(region);
}

/** The text from the server, before times are converted. */
function remember(region) {
  region.source = region.innerHTML;
  for (const cell of region.querySelectorAll('tr[data-row] > td')) cell.source = cell.innerHTML;
}

const keyOf = (row) => row?.dataset.row || (row?.querySelector('a')?.getAttribute('href') ?? undefined);
const rowsByKey = (region) =>
  new Map([...region.querySelectorAll('tr[data-row]')].map((row) => [keyOf(row), row]));

/** True while the reader points at a row, has chosen one, has marked text, or has scrolled: rows then stay where they are. */
function isHeld(region) {
  if (region.querySelector('tr[data-row]') === null) return false;
  const selection = getSelection();
  return (
    scrollY > 0 ||
    region.querySelector('tbody:hover, tr.at, :focus') !== null ||
    (selection?.isCollapsed === false && selection.intersectsNode(region))
  );
}

/** Changes cells in place. @returns the number of rows that are not shown yet */
function patchRows(region, news) {
  const shown = rowsByKey(region);
  let count = 0;
  for (const [key, made] of rowsByKey(news)) {
    const row = shown.get(key);
    if (row === undefined) count += 1;
    for (const [place, cell] of [...(row?.cells ?? [])].entries()) {
      const source = made.cells[place]?.innerHTML;
      if (source === undefined || source === cell.source || cell.contains(document.activeElement)) continue;
      cell.innerHTML = source;
      cell.source = source;
      showTimes(cell);
    }
  }
  return count;
}

/** Takes no space, so that the row under the pointer stays in place. */
function announce(region, count) {
  const known = region.querySelector('.news');
  if (count === 0) return known?.remove();
  const { news, show } = document.querySelector('main').dataset;
  const text = `${count} ${news} · ${show}`;
  if (known !== null) return known.firstChild.replaceChildren(text);
  const shown = document.createElement('p');
  shown.className = 'news';
  shown.setAttribute('role', 'status');
  const button = document.createElement('button');
  button.type = 'button';
  button.append(text);
  button.addEventListener('click', () => {
    showAll(region);
    scrollTo(0, 0);
  });
  shown.append(button);
  region.prepend(shown);
}

/** True if the reader is typing or choosing, or has an open form: these are not interrupted. */
const isAtWork = (region) =>
  (region.contains(document.activeElement) && document.activeElement.matches('input, select, textarea')) ||
  region.querySelector('details.action[open]') !== null;

/** Shows the age of outdated content. */
function say(text, at) {
  document.querySelector('.stale')?.remove();
  if (text === undefined) return;
  const said = document.createElement('p');
  said.className = 'stale';
  said.setAttribute('role', 'status');
  said.append(text, ' ');
  const time = document.createElement('time');
  time.dateTime = at.toISOString();
  time.dataset.form = 'relative';
  said.append(time);
  document.querySelector('main').prepend(said);
  showTimes(said);
}

function beStale() {
  if (staleTimer !== undefined) return;
  const since = new Date();
  const text = document.querySelector('main').dataset.stale;
  staleTimer = setTimeout(() => say(text, since), staleAfterMs);
}

function beLive() {
  clearTimeout(staleTimer);
  staleTimer = undefined;
  say();
}

function watch() {
  source?.close();
  source = undefined;
  if (document.hidden) return;
  source = new EventSource(`/console/live?page=${encodeURIComponent(ownAddress())}`);
  source.addEventListener('changed', refresh);
  source.addEventListener('open', beLive);
  source.addEventListener('error', ({ target }) => {
    beStale();
    if (target.readyState === EventSource.CLOSED) refresh();
  });
}

let isStopped = false;

/** Shown until the page is reloaded. @param text the reason; the time follows it */
export function stopLive(text) {
  if (isStopped) return;
  isStopped = true;
  source?.close();
  beLive();
  say(text, new Date());
}

export function startLive() {
  if (document.querySelector('main[data-live]') === null) return;
  const regions = document.querySelectorAll('[data-region]');
  for (const region of regions) remember(region);
  watch();
  // The reader has left the list.
  setInterval(() => {
    for (const region of regions) if (region.news !== undefined) update(region);
  }, releaseMs);
  document.addEventListener('visibilitychange', () => {
    if (isStopped) return;
    watch();
    if (!document.hidden) refresh();
  });
  addEventListener('pagehide', () => source?.close());
}
