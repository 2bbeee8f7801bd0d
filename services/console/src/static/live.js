/**
 * Loads the page again, in place, when the server says that it has changed. Only regions that differ are replaced, and none
 * in which the reader is at work. Rows of a list that the reader holds stay where they are. A hidden page is not watched.
 */
import { showTimes } from './times.js';

/** Of what is watched: without what is known only afterwards. */
const ownAddress = () => `${location.pathname}${location.search}`;

/** Shorter interruptions are no news: a watch ends and begins again by itself, milliseconds. */
const staleAfterMs = 10_000;

/** How often a list that was held is looked at, milliseconds. */
const releaseMs = 500;

let source;
let staleTimer;

async function refresh() {
  // Only what the reader does keeps the session alive.
  const headers = { accept: 'text/html', 'tollgate-unattended': '1' };
  const answer = await fetch(ownAddress(), { headers }).catch(() => undefined);
  // What was shown is not left on the screen of a reader who is no longer signed in.
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

/** Replaces the region, and keeps what the reader has opened, unchecked, chosen by the keyboard and scrolled sideways. */
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

/** What the server sent, before times are changed. */
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

/** Takes no room: the row under the pointer stays there. */
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

/** True where the reader types or chooses, or has a form open: neither is interrupted. */
const isAtWork = (region) =>
  (region.contains(document.activeElement) && document.activeElement.matches('input, select, textarea')) ||
  region.querySelector('details.action[open]') !== null;

/** What is old says how old it is. */
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

/** Until the page is loaded again. @param text says why, before the time since when */
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
