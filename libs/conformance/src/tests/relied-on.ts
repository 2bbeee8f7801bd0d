/** Decisions that specified rules have to be tested by, because the specification does not show how a call is written. */
export const refundNamesPayment = 'a refund names its payment in the field token';
export const twoStepIsAskedFor =
  'a two-step payment is created with needConfirmation: true, and confirmed or declined by its token';
export const payoutBody =
  'a payout has amount, currency, orderNumber and destination {bankAccount: {bankName, account}}';
export const balanceQuery = 'the currency of a balance is chosen by the query parameter currency';
export const pageAddress = 'the payment page has its address in the field processingUrl of the creation';
export const cardFields = 'card data is sent as card {pan, expires, holder, cvv}';
