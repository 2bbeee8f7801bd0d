/**
/**
 * Requests the page again each second, and shows a change in place. Replaces only regions that differ, and none in which the
 * reader is typing or choosing. Rows of a list stay in place while the reader uses it. A hidden page is not refreshed.
 */
import { showTimes } from './times.js';

/** Address of the page, without the fragment. */
const ownAddress = () => `${location.pathname}${location.search}`;

/** Shorter interruptions are not shown, milliseconds. */
const staleAfterMs = 10_000;

/** Interval for checking a list that the reader holds, milliseconds. */
const releaseMs = 500;

/** Shortest time between two refreshes; a slow page waits ten times as long as it takes, milliseconds. */
const everyMs = 1_000;
const pauseFactor = 10;

let timer;
let staleTimer;
let isStopped = false;
/** The version that was shown last, of those that were refreshed. */
let version = 'first';

async function refresh() {
  clearTimeout(timer);
  const begunAt = performance.now();
  // Only actions of the reader extend the session.
  const headers = { accept: 'text/html', 'tollgate-unattended': version };
  const answer = await fetch(ownAddress(), { headers }).catch(() => undefined);
  if (isStopped) return;
  // Data must not stay on the screen after the session has ended.
  if (answer?.status === 401) return location.reload();
  const text = answer?.status === 200 ? await answer.text().catch(() => undefined) : undefined;
  // Absent while the server refreshes another page.
  const known = answer?.headers.get('tollgate-page-version') ?? undefined;
  if (text !== undefined) show(text);
  if (known !== undefined && (text !== undefined || known === version)) {
    version = known;
    beLive();
  } else beStale();
  clearTimeout(timer);
  if (isStopped || document.hidden) return;
  const pauseMs = Math.max(everyMs, pauseFactor * (performance.now() - begunAt));
  // At random, so that two pages do not meet each time.
  timer = setTimeout(refresh, known === undefined ? everyMs * Math.random() : pauseMs);
}

function show(text) {
  const next = new DOMParser().parseFromString(text, 'text/html');
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

/** Shown until the page is reloaded. @param text the reason; the time follows it */
export function stopLive(text) {
  if (isStopped) return;
  isStopped = true;
  clearTimeout(timer);
  beLive();
  say(text, new Date());
}

export function startLive() {
  if (document.querySelector('main[data-live]') === null) return;
  const regions = document.querySelectorAll('[data-region]');
  for (const region of regions) remember(region);
  timer = setTimeout(refresh, everyMs);
  // The reader has left the list.
  setInterval(() => {
    for (const region of regions) if (region.news !== undefined) update(region);
  }, releaseMs);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (!isStopped && !document.hidden) refresh();
  });
}
