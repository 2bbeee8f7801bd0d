import type { Texts } from './texts.ts';

export const en: Texts = {
  testMode: 'Test mode: no real money moves',
  merchant: 'Merchant',
  orderNumber: 'Order number',
  payByCard: 'Pay by card',
  fields: { number: 'Card number', expiry: 'Expiry date', cvv: 'Security code', holder: 'Name on card' },
  hints: { expiry: 'MM/YY', cvv: '3 or 4 digits' },
  faults: {
    number: 'Enter the card number: 12 to 19 digits',
    numberMistyped: 'The card number has a typing error: please check its digits',
    expiry: 'Enter the expiry date as MM/YY',
    expiryPast: 'The card has expired: use another card',
    cvv: 'Enter the security code: 3 or 4 digits',
    holder: 'Enter the name as it stands on the card',
  },
  checkEntries: 'Please check your entries',
  errorPrefix: 'Error',
  pay: (amount) => `Pay ${amount}`,
  privacy: 'Your card details are sent encrypted and are not shared with the merchant.',
  authentication: {
    title: 'Confirm your payment',
    text: 'Your bank asks whether it is really you who makes this payment.',
    confirm: 'Confirm payment',
    reject: 'Reject',
  },
  outcomes: {
    approved: { title: 'Payment successful', text: 'Thank you. Your payment has been made.' },
    held: {
      title: 'Payment authorised',
      text: 'Thank you. The amount is held until the merchant confirms it.',
    },
    declined: {
      title: 'Payment declined',
      text: 'The payment was not made, and you have not been charged. To use another card, order again.',
    },
    refunded: { title: 'Payment refunded', text: 'The amount has been returned to you.' },
    expired: {
      title: 'Payment expired',
      text: 'The time for this payment is over, and you have not been charged. Please order again.',
    },
  },
  backToMerchant: 'Back to the merchant',
  troubles: {
    notFound: {
      title: 'Payment not found',
      text: 'There is no payment at this address. Please check the link.',
    },
    unreadable: {
      title: 'Entries not readable',
      text: 'What was sent cannot be read. Go back and try again.',
    },
    failed: {
      title: 'Something went wrong',
      text: 'The fault is on our side. Please try again in a moment.',
    },
  },
};
