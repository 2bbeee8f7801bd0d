/**
 * Text that was typed into a form is not lost when the session expires, the gateway is down or a value is refused. It stays
 * in this tab until an action succeeds, and is put back when the form is shown again.
 */
const prefix = 'draft ';
/** At most the length of a session, milliseconds. */
const keptMs = 12 * 3_600_000;

const keyOf = (form) => prefix + new URL(form.action).pathname;
const isTyped = ({ name, type }) => name !== '' && !['hidden', 'submit', 'button', 'password'].includes(type);
const fieldsOf = (form) => [...form.elements].filter(isTyped);
const isChoice = ({ type }) => type === 'radio' || type === 'checkbox';

function keep(form) {
  const values = fieldsOf(form).map((field) => (isChoice(field) ? field.checked : field.value));
  sessionStorage.setItem(keyOf(form), JSON.stringify({ at: Date.now(), values }));
}

function putBack(form) {
  const { at, values } = JSON.parse(sessionStorage.getItem(keyOf(form)) ?? '{}');
  const fields = fieldsOf(form);
  // If its fields have changed, the form does not match its draft.
  if (!(Date.now() - at < keptMs) || values.length !== fields.length) return;
  for (const [place, field] of fields.entries()) {
    if (isChoice(field)) field.checked = values[place];
    else field.value = values[place];
  }
  form.closest('details')?.setAttribute('open', '');
}

export function startDrafts() {
  if (document.querySelector('[data-outcome="good"]') !== null)
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  for (const form of document.querySelectorAll('main form[method="post"]')) putBack(form);
  document.addEventListener('input', ({ target }) => {
    const { form } = target;
    if (form?.method === 'post' && form.closest('main') !== null) keep(form);
  });
}
