/**
 * The next page of a list is put below the one before when the reader comes near its end, so that ten thousand rows are one
 * table to scroll. Each page is a table of its own: those that are out of sight are not laid out.
 */
import { stopLive } from './live.js';
import { showTimes } from './times.js';

/** Then the link leads to the next page, as it does without script. */
const pagesMax = 200;
/** After a page that did not come, milliseconds. */
const againMs = 1_000;
/** How far from the end the next page is asked for, pixels. */
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
    // From here on the first page must stay as it is: what moves from it to the second one would be on neither.
    stopLive(region.dataset.further);
    pages += 1;
    wide.setAttribute('aria-label', `${wide.getAttribute('aria-label')}, ${pages + 1}`);
    // The head of each page is below the rows of the page before, until it sticks.
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
      // Several looks may come at once; the last one is of now.
      if (!entries.at(-1).isIntersecting || pages >= pagesMax || next() === null) return;
      // A reader who scrolls faster than the session may ask waits a moment.
      if (!(await loadNext())) await new Promise((resolve) => setTimeout(resolve, againMs));
      watch();
    },
    { rootMargin: ahead },
  );
  function watch() {
    observer.disconnect();
    if (next() !== null) observer.observe(next());
  }

  /** Back from a payment, the reader is where he was. */
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
