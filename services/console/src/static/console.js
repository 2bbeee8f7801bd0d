/** Optional script of the console: times in the reader's zone, live pages, and keyboard navigation. */
import { startDrafts } from './drafts.js';
import { startFurther } from './further.js';
import { startKeyboard } from './keyboard.js';
import { startLive } from './live.js';
import { startSuggestions } from './suggestions.js';
import { showTimes, toLocal, toUtc } from './times.js';

const themeName = 'tollgate-theme';

function startTheme() {
  const known = localStorage.getItem(themeName);
  if (known === 'light' || known === 'dark') document.documentElement.dataset.theme = known;
  document.querySelector('[data-theme-switch]')?.addEventListener('click', () => {
    const isDark =
      document.documentElement.dataset.theme === 'dark' ||
      (document.documentElement.dataset.theme === undefined &&
        matchMedia('(prefers-color-scheme: dark)').matches);
    const chosen = isDark ? 'light' : 'dark';
    document.documentElement.dataset.theme = chosen;
    localStorage.setItem(themeName, chosen);
  });
}

function say(text) {
  const said = document.createElement('p');
  said.className = 'said';
  said.setAttribute('role', 'status');
  said.textContent = text;
  document.body.append(said);
  setTimeout(() => said.remove(), 1_500);
}

function startCopying() {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
    if (button === null) return;
    navigator.clipboard.writeText(button.dataset.copy).then(() => say('Copied'));
  });
}

/** On a phone, the menu starts with the current page. */
const showPlace = () =>
  document.querySelector('.bar nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

/** A click anywhere on a row opens it. The keyboard uses its link. */
function startRows() {
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || event.target.closest('a, button, input, summary')) return;
    if (getSelection()?.isCollapsed === false) return;
    event.target.closest('tr[data-row]')?.querySelector('a')?.click();
  });
}

/** The second click of a double click must not close the form that the first one opened. */
function startActions() {
  document.addEventListener('click', (event) => {
    if (event.detail > 1 && event.target instanceof Element && event.target.closest('.action > summary'))
      event.preventDefault();
  });
}

/** Empty fields are left out of the address. Times are typed in the reader's zone and sent in UTC. */
function startFilters() {
  const form = document.querySelector('form.filters');
  const instants = [...(form?.querySelectorAll('input[type="datetime-local"]') ?? [])];
  for (const field of instants) if (field.value !== '') field.value = toLocal(field.value);
  // Each filter acts at once: a choice on selection, a text field when it loses the focus.
  form?.querySelector(':scope > button')?.setAttribute('hidden', '');
  form?.addEventListener('change', ({ target }) => {
    if (target.type !== 'datetime-local') form.requestSubmit();
  });
  for (const field of instants) {
    const shown = field.value;
    field.addEventListener('blur', () => field.value !== shown && form.requestSubmit());
  }
  form?.addEventListener('formdata', ({ formData }) => {
    for (const { name, value } of instants) if (value !== '') formData.set(name, toUtc(value));
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
}

/** Columns change at once. This browser stores the choice. */
function startColumns() {
  const form = document.querySelector('form.columns');
  form?.querySelector('button')?.setAttribute('hidden', '');
  form?.addEventListener('change', () => {
    const chosen = [...form.querySelectorAll('input:checked')].map(({ value }) => value).join('.');
    document.cookie = `tollgate-columns-${form.dataset.list}=${chosen}; path=/console; max-age=31536000; samesite=strict`;
    const address = new URL(location.href);
    address.searchParams.delete('column');
    location.replace(address);
  });
}

/** Shows the outcome of an action once, and removes it from the address. */
function forgetOutcome() {
  const address = new URL(location.href);
  if (!address.searchParams.has('done')) return;
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}

startTheme();
showPlace();
// Before times are converted: comparisons use the text from the server.
startLive();
showTimes(document);
startCopying();
startRows();
startActions();
startDrafts();
startFilters();
startColumns();
forgetOutcome();
startKeyboard();
startSuggestions();
startFurther();
