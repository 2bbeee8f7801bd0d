import { dayMs } from '@tollgate/service-kit';
import type { Books } from '@tollgate/reconciliation';
import type { PaymentIndex } from '@tollgate/lists';

const perPage = 500;

export const createBooks = (
  index: Pick<PaymentIndex, 'find' | 'findPayout' | 'findByServiceToken' | 'listPayments' | 'listPayouts'>,
  teams: () => readonly string[],
): Books => ({
  find: (operation, token) => (operation === 'payment' ? index.find(token) : index.findPayout(token)),
  findPayment: (environment, account, serviceToken) =>
    index.findByServiceToken(environment, account, serviceToken)?.token,
  *pagesOf(operation, { environment, account, day }) {
    const createdFrom = Date.parse(day);
    const range = { createdFrom, createdBefore: createdFrom + dayMs, perPage };
    for (const team of teams())
      for (let cursor: string | undefined, isLast = false; !isLast;) {
        const query = {
          ...range,
          owners: [{ environment, team }],
          ...(cursor === undefined ? {} : { cursor }),
        };
        const page = operation === 'payment' ? index.listPayments(query) : index.listPayouts(query);
        if (page.kind === 'refused') throw new RangeError('the index refuses its own cursor');
        yield page.views.filter(
          (view) => ('payment' in view ? view.payment.attempt : view.payout.call).account === account,
        );
        cursor = page.nextCursor;
        isLast = cursor === undefined;
      }
  },
});
