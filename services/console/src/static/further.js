/**
 * Appends the next page of a list when the reader scrolls near the end, so that ten thousand rows scroll as one list. Each page
 * is its own table, and tables out of view are not laid out.
 */
import { stopLive } from './live.js';
import { showTimes } from './times.js';

/** Beyond this, the link opens the next page, as without script. */
const pagesMax = 200;
/** Pause after a failed page, milliseconds. */
const againMs = 1_000;
/** Distance from the end at which the next page is requested, pixels. */
const ahead = '400px';

export function startFurther() {
  const region = document.querySelector('[data-further]');
  if (!region?.querySelector('.wide') || region.querySelector('a[rel="next"]') === null) return;
  const further = document.createElement('div');
  further.className = 'further';
  region.after(further);
  let pager = region.querySelector('.pager');
  let pages = 0;
  let loading;

  const next = () => pager.querySelector('a[rel="next"]');

  async function load() {
    const answer = await fetch(next().href, { headers: { accept: 'text/html' } }).catch(() => undefined);
    if (answer?.ok !== true) return false;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const wide = page.querySelector(`#${region.id} .wide`);
    if (wide === null) return false;
    // The first page is frozen now: a row that moved from it to the second page would be on neither.
    stopLive(region.dataset.further);
    pages += 1;
    wide.setAttribute('aria-label', `${wide.getAttribute('aria-label')}, ${pages + 1}`);
    // The head of each page follows the rows of the previous page, until it sticks.
    wide.style.zIndex = pagesMax - pages;
    further.append(wide);
    showTimes(wide);
    pager.remove();
    pager = page.querySelector(`#${region.id} .pager`);
    further.after(pager);
    return true;
  }
  const loadNext = () => (loading ??= load().finally(() => (loading = undefined)));

  const observer = new IntersectionObserver(
    async (entries) => {
      // Several entries may be delivered together; the last one is current.
      if (!entries.at(-1).isIntersecting || pages >= pagesMax || next() === null) return;
      // Scrolling faster than the session's rate limit: wait a moment.
      if (!(await loadNext())) await new Promise((resolve) => setTimeout(resolve, againMs));
      watch();
    },
    { rootMargin: ahead },
  );
  function watch() {
    observer.disconnect();
    if (next() !== null) observer.observe(next());
  }

  /** Restores the scroll position when the reader returns from a payment. */
  async function goBack() {
    const { pages: seen = 0, y = 0 } = history.state ?? {};
    while (pages < seen && next() !== null && (await loadNext()));
    if (seen > 0) scrollTo(0, y);
    // The first page stays live for readers who do not scroll.
    addEventListener('scroll', watch, { once: true, passive: true });
  }

  addEventListener('pagehide', () => history.replaceState(pages > 0 ? { pages, y: scrollY } : null, ''));
  goBack();
}
