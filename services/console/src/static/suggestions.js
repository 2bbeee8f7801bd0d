/** Search suggestions while typing: arrow keys move between them, Enter opens one. */
const waitMs = 150;

export function startSuggestions() {
  const input = document.querySelector('.search input');
  if (input === null) return;
  const list = document.createElement('div');
  Object.assign(list, { id: 'suggestions', className: 'suggestions', hidden: true });
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', input.getAttribute('aria-label'));
  input.after(list);
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-expanded', 'false');

  let asking;
  let timer;

  const options = () => [...list.querySelectorAll('[role="option"]')];
  const chosen = () => options().find((option) => option.getAttribute('aria-selected') === 'true');

  function choose(next) {
    for (const option of options()) option.setAttribute('aria-selected', String(option === next));
    if (next === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', next.id);
  }

  function show(markup) {
    list.innerHTML = markup;
    for (const [place, option] of options().entries()) option.id = `suggestion-${place}`;
    list.hidden = options().length === 0;
    input.setAttribute('aria-expanded', String(!list.hidden));
    choose(undefined);
  }

  async function ask() {
    asking?.abort();
    const text = input.value.trim();
    if (text === '') return show('');
    asking = new AbortController();
    const url = `/console/search/suggestions?${new URLSearchParams({ q: text })}`;
    const answer = await fetch(url, { signal: asking.signal }).catch(() => undefined);
    if (answer?.ok && document.activeElement === input) show(await answer.text());
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, waitMs);
  });
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') show('');
    if (event.key === 'Enter' && chosen() !== undefined) {
      event.preventDefault();
      chosen().click();
    }
    if (step === undefined || list.hidden) return;
    event.preventDefault();
    const all = options();
    // One position more than the options: in the box itself, no option is selected.
    const places = all.length + 1;
    choose(all[((all.indexOf(chosen()) + 1 + step + places) % places) - 1]);
  });
  // A click on a suggestion blurs the box first: keep the list open for a moment.
  input.addEventListener('blur', () => setTimeout(() => show(''), 200));
}
