import type { Texts } from './texts.ts';

export const ja: Texts = {
  testMode: 'テストモード：実際の請求は発生しません',
  merchant: '加盟店',
  orderNumber: '注文番号',
  payByCard: 'カードで支払う',
  fields: { number: 'カード番号', expiry: '有効期限', cvv: 'セキュリティコード', holder: 'カード名義人' },
  hints: { expiry: '月/年（MM/YY）', cvv: '3 桁または 4 桁' },
  faults: {
    number: 'カード番号を 12～19 桁の数字で入力してください',
    numberMistyped: 'カード番号に誤りがあります。数字をご確認ください',
    expiry: '有効期限を MM/YY の形式で入力してください',
    expiryPast: 'カードの有効期限が切れています。別のカードをご利用ください',
    cvv: 'セキュリティコードを 3 桁または 4 桁の数字で入力してください',
    holder: 'カードに記載の名義を入力してください',
  },
  checkEntries: '入力内容をご確認ください',
  errorPrefix: 'エラー',
  pay: (amount) => `${amount} を支払う`,
  privacy: 'カード情報は暗号化して送信され、加盟店には共有されません。',
  authentication: {
    title: 'お支払いの確認',
    text: 'カード会社が、ご本人によるお支払いかどうかを確認しています。',
    confirm: '支払いを承認する',
    reject: '拒否する',
  },
  outcomes: {
    approved: { title: 'お支払い完了', text: 'ありがとうございます。お支払いが完了しました。' },
    held: { title: 'お支払い承認済み', text: 'ありがとうございます。加盟店の確定まで金額が確保されます。' },
    declined: {
      title: 'お支払い不可',
      text: 'お支払いは行われず、請求は発生していません。別のカードをご利用になるには、再度ご注文ください。',
    },
    refunded: { title: '返金済み', text: '金額は返金されました。' },
    expired: {
      title: '期限切れ',
      text: 'お支払いの期限が過ぎました。請求は発生していません。再度ご注文ください。',
    },
  },
  backToMerchant: '加盟店に戻る',
  troubles: {
    notFound: {
      title: 'お支払いが見つかりません',
      text: 'このアドレスにお支払いはありません。リンクをご確認ください。',
    },
    unreadable: {
      title: '入力を読み取れません',
      text: '送信された内容を読み取れません。戻ってもう一度お試しください。',
    },
    failed: {
      title: 'エラーが発生しました',
      text: '当方の不具合です。しばらくしてからもう一度お試しください。',
    },
  },
};
