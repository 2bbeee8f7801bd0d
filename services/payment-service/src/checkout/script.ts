import { createHash } from 'node:crypto';
import { trustedHtml } from '@tollgate/service-kit';

/**
 * Input help if scripts run: groups digits, shows the brand, adds the slash of the expiry date, and reports a typing
 * error before submission. It is optional: the service parses and checks everything itself. Nothing is stored or sent.
 */
const script = `
(() => {
  const number = document.getElementById('number');
  if (number === null) return;
  const expiry = document.getElementById('expiry');
  const brand = document.getElementById('brand');
  const brands = [
    [/^3[47]/, 'American Express'], [/^4/, 'Visa'], [/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 'Mastercard'],
    [/^35(2[89]|[3-8])/, 'JCB'], [/^3(0[0-5]|095|[689])/, 'Diners Club'], [/^(6011|64[4-9]|65)/, 'Discover'],
    [/^62/, 'UnionPay'], [/^(5[0678]|6)/, 'Maestro'],
  ];
  const digitsOf = (text) => text.normalize('NFKC').replace(/\\D/g, '');
  const groupsOf = (digits) => /^3[47]/.test(digits) ? [4, 10] : [4, 8, 12, 16];
  const grouped = (digits) =>
    [...digits].map((digit, at) => (groupsOf(digits).includes(at) ? ' ' : '') + digit).join('');
  const isRight = (digits) =>
    [...digits].reverse().reduce((sum, digit, at) => {
      const doubled = at % 2 === 1 ? digit * 2 : Number(digit);
      return sum + (doubled > 9 ? doubled - 9 : doubled);
    }, 0) % 10 === 0;
  // The caret stays after the same digit.
  const rewrite = (input, format) => {
    const before = digitsOf(input.value.slice(0, input.selectionStart)).length;
    const text = format(input.value);
    if (text === input.value) return;
    input.value = text;
    let caret = 0;
    for (let seen = 0; seen < before && caret < text.length; caret += 1) if (/\\d/.test(text[caret])) seen += 1;
    while (caret < text.length && before > 0 && !/\\d/.test(text[caret])) caret += 1;
    input.setSelectionRange(caret, caret);
  };
  const showBrand = () => {
    const digits = digitsOf(number.value);
    brand.textContent = brands.find(([begins]) => begins.test(digits))?.[1] ?? '';
  };
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.id = 'number-mistyped';
  fault.setAttribute('role', 'alert');
  number.after(fault);
  const report = (text) => {
    if (fault.textContent === text) return;
    fault.textContent = text;
    const describedBy = [number.dataset.describedBy, text && fault.id].filter(Boolean).join(' ');
    for (const [name, value] of [['aria-invalid', text && 'true'], ['aria-describedby', describedBy]])
      if (value === '') number.removeAttribute(name);
      else number.setAttribute(name, value);
  };
  const isMistyped = () => {
    const digits = digitsOf(number.value);
    return digits.length >= 12 && digits.length <= 19 && !isRight(digits);
  };
  number.dataset.describedBy = number.getAttribute('aria-describedby') ?? '';
  number.addEventListener('input', (event) => {
    if (!event.isComposing) rewrite(number, (text) => (/[^\\d\\s-]/.test(text.normalize('NFKC')) ? text : grouped(digitsOf(text))));
    showBrand();
    if (!isMistyped()) report('');
  });
  number.addEventListener('change', () => report(isMistyped() ? number.dataset.mistyped : ''));
  expiry.addEventListener('input', (event) => {
    if (event.isComposing || event.inputType?.startsWith('delete')) return;
    if (/^(0[1-9]|1[0-2])$/.test(expiry.value)) expiry.value += '/';
    else if (/^[2-9]$/.test(expiry.value)) expiry.value = '0' + expiry.value + '/';
    // The slash exists already: ignore a typed one.
    else expiry.value = expiry.value.replace(/^(\\d\\d\\/)[\\/ ]+/, '$1');
  });
  number.form.addEventListener('submit', (event) => {
    if (!isMistyped()) return;
    event.preventDefault();
    report(number.dataset.mistyped);
    number.focus();
  });
  rewrite(number, (text) => text);
  showBrand();
})();
`;

/** The only script that the content security policy allows. */
export const scriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/** The whole element: any additional space inside would change the hash. */
export const scriptElement = trustedHtml(`<script>${script}</script>`);
