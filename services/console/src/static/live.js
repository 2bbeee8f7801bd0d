/**
 * Loads the page again, in place, when the server says that it has changed. Only regions that differ are replaced, and none
 * in which the reader is at work. A page that nobody looks at is not watched.
 */
import { showTimes } from './times.js';

/** Of what is watched: without what is known only afterwards. */
const ownAddress = () => `${location.pathname}${location.search}`;

/** Shorter interruptions are no news: a watch ends and begins again by itself, milliseconds. */
const staleAfterMs = 10_000;

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
    if (made === null || made.innerHTML === region.source) continue;
    if (isAtWork(region)) continue;
    const source = made.innerHTML;
    const opened = [...region.querySelectorAll('details[open][id]')].map(({ id }) => id);
    const unchecked = [...region.querySelectorAll('input[type="checkbox"]:not(:checked)')].map(
      ({ name }) => name,
    );
    const at = region.querySelector('tr.at a')?.getAttribute('href');
    const scrolled = region.querySelector('.wide')?.scrollLeft ?? 0;
    region.replaceChildren(...made.childNodes);
    region.source = source;
    for (const id of opened) region.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
    for (const name of unchecked) region.querySelector(`[name="${CSS.escape(name)}"]`).checked = false;
    if (at)
      region
        .querySelector(`a[href="${CSS.escape(at)}"]`)
        ?.closest('tr')
        ?.classList.add('at');
    const wide = region.querySelector('.wide');
    if (wide !== null) wide.scrollLeft = scrolled;
    showTimes(region);
  }
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
  for (const region of document.querySelectorAll('[data-region]')) region.source = region.innerHTML;
  watch();
  document.addEventListener('visibilitychange', () => {
    if (isStopped) return;
    watch();
    if (!document.hidden) refresh();
  });
  addEventListener('pagehide', () => source?.close());
}
