/** `/` searches, `j` and `k` move between rows, Enter opens, `g` and a letter open a page, `?` shows the shortcuts. */
const places = {
  o: '/console',
  p: '/console/payments',
  u: '/console/payouts',
  r: '/console/reviews',
  c: '/console/reconciliations',
  w: '/console/webhooks',
  a: '/console/accounts',
  t: '/console/teams',
  l: '/console/security-log',
  s: '/console/sandbox',
};

/** Maximum pause between the two keys of `g p`, milliseconds. */
const chordMs = 1_500;
let chordAt = -Infinity;

const isWriting = (element) => element?.matches?.('input, select, textarea, [contenteditable]') ?? false;

function step(by) {
  const rows = [...document.querySelectorAll('tr[data-row]')];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.classList.contains('at'));
  const next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[at]?.classList.remove('at');
  rows[next].classList.add('at');
  rows[next].scrollIntoView({ block: 'nearest' });
}

const actions = {
  '/': () => {
    document.querySelector('.search input')?.focus();
    document.querySelector('.search input')?.select();
  },
  '?': () => document.querySelector('#help').showModal(),
  j: () => step(1),
  k: () => step(-1),
  g: () => (chordAt = performance.now()),
};

export function startKeyboard() {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === 'Escape' && isWriting(target)) target.blur();
    if (isWriting(target) || document.querySelector('dialog[open]') !== null) return;
    if (performance.now() - chordAt < chordMs && places[key] !== undefined) {
      chordAt = -Infinity;
      location.assign(places[key]);
      return;
    }
    if (key === 'Enter' && target === document.body) document.querySelector('tr.at a')?.click();
    const act = actions[key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
