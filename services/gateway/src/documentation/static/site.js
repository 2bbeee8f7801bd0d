/** Optional script of the pages: the choice of colors, search, and copying samples. */
{
  const { documentElement: page } = document;
  const root = page.dataset.root;

  const isDark = () =>
    (page.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) ===
    'dark';
  const button = document.getElementById('theme');
  const label = () => (button.textContent = isDark() ? 'Light' : 'Dark');
  button.addEventListener('click', () => {
    page.dataset.theme = isDark() ? 'light' : 'dark';
    label();
    try {
      localStorage.setItem('docs-theme', page.dataset.theme);
    } catch {
      // Without local storage, the choice lasts until the page is closed.
    }
  });
  label();
  button.hidden = false;

  // The list of pages scrolls separately on a wide screen.
  const pages = document.getElementById('navigation');
  pages.scrollTop = pages.querySelector('[aria-current]').offsetTop - pages.clientHeight / 2;

  for (const sample of document.querySelectorAll('pre')) {
    if (navigator.clipboard === undefined) break;
    const around = document.createElement('div');
    const copy = document.createElement('button');
    around.className = 'copied';
    copy.textContent = 'Copy';
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(sample.textContent);
      copy.textContent = 'Copied';
      setTimeout(() => (copy.textContent = 'Copy'), 2000);
    });
    sample.replaceWith(around);
    around.append(sample, copy);
  }

  const input = document.getElementById('search');
  const results = document.getElementById('results');
  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `${root}static/${name}`;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });

  let loading;
  const openIndex = () =>
    (loading ??= Promise.all([load('minisearch.js'), load('search-index.js')]).then(() => {
      const index = new MiniSearch({
        // The path of a page has the name of its subject: `team/refund.html` is titled "How do I give money back?".
        fields: ['heading', 'page', 'id', 'text'],
        storeFields: ['heading', 'page', 'text'],
        // Finds `payment_in_review` as a whole and by its parts.
        tokenize: (text) => text.split(/[\s\p{Z}\p{P}]+/u).concat(text.match(/\w+_\w+/g) ?? []),
        searchOptions: {
          boost: { heading: 4, page: 2, id: 3 },
          // Guides first, then the reference, then decisions and history.
          boostDocument: (id) =>
            /^(?:adr|changelog|contributor)\b/.test(id) ? 0.3 : /^(?:api|team\/errors)\b/.test(id) ? 0.6 : 1,
          prefix: (term) => term.length > 2,
          fuzzy: (term) => (term.length > 5 ? 0.2 : false),
          combineWith: 'AND',
        },
      });
      index.addAll(window.tollgateSearchIndex);
      return index;
    }));

  /** The words around the first match, which is marked. */
  const excerpt = (text, terms) => {
    const lower = text.toLowerCase();
    const at = Math.min(
      ...terms.map((term) => lower.indexOf(term)).filter((index) => index >= 0),
      text.length,
    );
    const found = terms.find((term) => lower.startsWith(term, at)) ?? '';
    const start = at === text.length ? 0 : Math.max(0, text.lastIndexOf(' ', Math.max(0, at - 50)) + 1);
    const small = document.createElement('small');
    const mark = document.createElement('mark');
    mark.textContent = text.slice(at, at + found.length);
    small.append(text.slice(start, Math.min(at, start + 120)), mark);
    small.append(text.slice(at + found.length, at + found.length + 90), '…');
    return small;
  };

  const say = (sentence) => {
    const item = document.createElement('li');
    item.textContent = sentence;
    results.replaceChildren(item);
    results.hidden = false;
  };

  const show = (found) => {
    results.replaceChildren(
      ...found.slice(0, 12).map(({ id, heading, page: title, text, terms }) => {
        const link = document.createElement('a');
        link.href = root + id;
        link.append(heading === title ? heading : `${heading} · ${title}`, excerpt(text, terms));
        const item = document.createElement('li');
        item.append(link);
        return item;
      }),
    );
    if (found.length === 0) say('No results.');
    results.hidden = false;
  };

  const close = () => (results.hidden = true);
  const search = async () => {
    const query = input.value.trim();
    if (query === '') return close();
    if (results.hidden) say('Searching …');
    try {
      const index = await openIndex();
      if (input.value.trim() === query) show(index.search(query));
    } catch {
      say('The search index could not be loaded. Reload the page.');
    }
  };
  input.addEventListener('focus', () => openIndex().catch(() => undefined), { once: true });
  input.addEventListener('input', search);
  input.parentElement.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return close();
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp' && event.key !== 'Enter') return;
    const links = [...results.querySelectorAll('a')];
    const current = links.indexOf(document.activeElement);
    if (event.key === 'Enter') return current === -1 && !results.hidden ? links[0]?.click() : undefined;
    event.preventDefault();
    const next = current + (event.key === 'ArrowDown' ? 1 : -1);
    (links[next] ?? input).focus();
  });
  results.addEventListener('click', close);
  document.addEventListener('click', ({ target }) => input.parentElement.contains(target) || close());
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    input.focus();
  });
  input.hidden = false;
}
