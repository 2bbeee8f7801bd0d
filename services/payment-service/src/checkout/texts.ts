/** The texts of the checkout in six languages, and their formats for amounts. */
import { minorUnitDigits } from '@tollgate/core/money';

const en = {
  testMode: 'Test mode: no real money moves',
  timeLeft: 'Time left:',
  orderNumber: 'Reference',
  payByCard: 'Pay by card',
  number: 'Card number',
  expiry: 'Expiry date',
  cvv: 'Security code',
  holder: 'Name on card',
  expiryHint: 'MM/YY',
  cvvHint: '3 or 4 digits',
  numberFault: 'Enter the card number: 12 to 19 digits',
  numberMistypedFault: 'The card number has a typing error: please check its digits',
  expiryFault: 'Enter the expiry date as MM/YY',
  expiryPastFault: 'The card has expired: use another card',
  cvvFault: 'Enter the security code: 3 or 4 digits',
  holderFault: 'Enter the name as shown on the card',
  checkEntries: 'Please check your entries',
  errorPrefix: 'Error',
  pay: 'Pay {amount}',
  privacy: 'Your card details are sent encrypted and are not shared with the merchant.',
  authenticationTitle: 'Confirm your payment',
  authenticationText: 'Your bank asks whether it is really you who makes this payment.',
  confirm: 'Confirm payment',
  reject: 'Reject',
  approvedTitle: 'Payment successful',
  approvedText: 'Thank you. Your payment has been made.',
  heldTitle: 'Payment authorised',
  heldText: 'Thank you. The amount is held until the merchant confirms it.',
  declinedTitle: 'Payment declined',
  declinedText: 'The payment was not made, and you have not been charged. To use another card, order again.',
  refundedTitle: 'Payment refunded',
  refundedText: 'The amount has been returned to you.',
  expiredTitle: 'Payment expired',
  expiredText: 'The time for this payment is over, and you have not been charged. Please order again.',
  backToMerchant: 'Back to the merchant',
  notFoundTitle: 'Payment not found',
  notFoundText: 'There is no payment at this address. Please check the link.',
  unreadableTitle: 'Entries not readable',
  unreadableText: 'What was sent cannot be read. Go back and try again.',
  failedTitle: 'Something went wrong',
  failedText: 'The fault is on our side. Please try again in a moment.',
};

/** All texts for the customer in one language; `{amount}` is the amount to be paid. */
export type Texts = Record<keyof typeof en, string>;

const de: Texts = {
  testMode: 'Testbetrieb: kein echtes Geld',
  timeLeft: 'Verbleibende Zeit:',
  orderNumber: 'Referenz',
  payByCard: 'Mit Karte bezahlen',
  number: 'Kartennummer',
  expiry: 'Gültig bis',
  cvv: 'Prüfnummer',
  holder: 'Name auf der Karte',
  expiryHint: 'MM/JJ',
  cvvHint: '3 oder 4 Ziffern',
  numberFault: 'Geben Sie die Kartennummer ein: 12 bis 19 Ziffern',
  numberMistypedFault: 'In der Kartennummer ist ein Tippfehler: Prüfen Sie die Ziffern',
  expiryFault: 'Geben Sie das Ablaufdatum als MM/JJ ein',
  expiryPastFault: 'Die Karte ist abgelaufen: Verwenden Sie eine andere Karte',
  cvvFault: 'Geben Sie die Prüfnummer ein: 3 oder 4 Ziffern',
  holderFault: 'Geben Sie den Namen ein, wie er auf der Karte steht',
  checkEntries: 'Bitte prüfen Sie Ihre Angaben',
  errorPrefix: 'Fehler',
  pay: '{amount} bezahlen',
  privacy: 'Ihre Kartendaten werden verschlüsselt übertragen und nicht an den Händler weitergegeben.',
  authenticationTitle: 'Zahlung bestätigen',
  authenticationText: 'Ihre Bank fragt, ob wirklich Sie diese Zahlung vornehmen.',
  confirm: 'Zahlung bestätigen',
  reject: 'Ablehnen',
  approvedTitle: 'Zahlung erfolgreich',
  approvedText: 'Vielen Dank. Ihre Zahlung ist ausgeführt.',
  heldTitle: 'Zahlung autorisiert',
  heldText: 'Vielen Dank. Der Betrag ist reserviert, bis der Händler ihn bestätigt.',
  declinedTitle: 'Zahlung abgelehnt',
  declinedText:
    'Die Zahlung wurde nicht ausgeführt, Ihre Karte nicht belastet. Für eine andere Karte bestellen Sie bitte erneut.',
  refundedTitle: 'Zahlung erstattet',
  refundedText: 'Der Betrag wurde Ihnen zurückgezahlt.',
  expiredTitle: 'Zahlung abgelaufen',
  expiredText:
    'Die Zeit für diese Zahlung ist vorbei, Ihre Karte wurde nicht belastet. Bitte bestellen Sie erneut.',
  backToMerchant: 'Zurück zum Händler',
  notFoundTitle: 'Zahlung nicht gefunden',
  notFoundText: 'Unter dieser Adresse gibt es keine Zahlung. Bitte prüfen Sie den Link.',
  unreadableTitle: 'Angaben nicht lesbar',
  unreadableText: 'Die gesendeten Angaben sind nicht lesbar. Gehen Sie zurück und versuchen Sie es erneut.',
  failedTitle: 'Etwas ist schiefgegangen',
  failedText: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
};

const fr: Texts = {
  testMode: 'Mode test : aucun débit réel',
  timeLeft: 'Temps restant :',
  orderNumber: 'Référence',
  payByCard: 'Payer par carte',
  number: 'Numéro de carte',
  expiry: 'Date d’expiration',
  cvv: 'Code de sécurité',
  holder: 'Nom figurant sur la carte',
  expiryHint: 'MM/AA',
  cvvHint: '3 ou 4 chiffres',
  numberFault: 'Saisissez le numéro de carte : 12 à 19 chiffres',
  numberMistypedFault: 'Le numéro de carte comporte une faute de frappe : vérifiez les chiffres',
  expiryFault: 'Saisissez la date d’expiration au format MM/AA',
  expiryPastFault: 'La carte a expiré : utilisez une autre carte',
  cvvFault: 'Saisissez le code de sécurité : 3 ou 4 chiffres',
  holderFault: 'Saisissez le nom tel qu’il figure sur la carte',
  checkEntries: 'Veuillez vérifier votre saisie',
  errorPrefix: 'Erreur',
  pay: 'Payer {amount}',
  privacy: 'Vos données de carte sont transmises chiffrées et ne sont pas communiquées au marchand.',
  authenticationTitle: 'Confirmez votre paiement',
  authenticationText: 'Votre banque demande si c’est bien vous qui effectuez ce paiement.',
  confirm: 'Confirmer le paiement',
  reject: 'Refuser',
  approvedTitle: 'Paiement réussi',
  approvedText: 'Merci. Votre paiement a été effectué.',
  heldTitle: 'Paiement autorisé',
  heldText: 'Merci. Le montant est réservé jusqu’à la confirmation du marchand.',
  declinedTitle: 'Paiement refusé',
  declinedText:
    'Le paiement n’a pas été effectué et vous n’avez pas été débité. Pour utiliser une autre carte, commandez à nouveau.',
  refundedTitle: 'Paiement remboursé',
  refundedText: 'Le montant vous a été remboursé.',
  expiredTitle: 'Paiement expiré',
  expiredText:
    'Le délai de ce paiement est écoulé et vous n’avez pas été débité. Veuillez commander à nouveau.',
  backToMerchant: 'Retour au marchand',
  notFoundTitle: 'Paiement introuvable',
  notFoundText: 'Il n’y a pas de paiement à cette adresse. Veuillez vérifier le lien.',
  unreadableTitle: 'Saisie illisible',
  unreadableText: 'Les données envoyées sont illisibles. Revenez en arrière et réessayez.',
  failedTitle: 'Une erreur est survenue',
  failedText: 'L’erreur vient de nous. Veuillez réessayer dans un instant.',
};

const es: Texts = {
  testMode: 'Modo de prueba: no se mueve dinero real',
  timeLeft: 'Tiempo restante:',
  orderNumber: 'Referencia',
  payByCard: 'Pagar con tarjeta',
  number: 'Número de tarjeta',
  expiry: 'Fecha de caducidad',
  cvv: 'Código de seguridad',
  holder: 'Nombre en la tarjeta',
  expiryHint: 'MM/AA',
  cvvHint: '3 o 4 dígitos',
  numberFault: 'Introduzca el número de tarjeta: de 12 a 19 dígitos',
  numberMistypedFault: 'El número de tarjeta tiene un error: revise los dígitos',
  expiryFault: 'Introduzca la fecha de caducidad como MM/AA',
  expiryPastFault: 'La tarjeta ha caducado: use otra tarjeta',
  cvvFault: 'Introduzca el código de seguridad: 3 o 4 dígitos',
  holderFault: 'Introduzca el nombre tal como figura en la tarjeta',
  checkEntries: 'Revise los datos introducidos',
  errorPrefix: 'Error',
  pay: 'Pagar {amount}',
  privacy: 'Los datos de su tarjeta se envían cifrados y no se comparten con el comercio.',
  authenticationTitle: 'Confirme su pago',
  authenticationText: 'Su banco pregunta si es usted quien realiza este pago.',
  confirm: 'Confirmar el pago',
  reject: 'Rechazar',
  approvedTitle: 'Pago realizado',
  approvedText: 'Gracias. Su pago se ha efectuado.',
  heldTitle: 'Pago autorizado',
  heldText: 'Gracias. El importe queda retenido hasta que el comercio lo confirme.',
  declinedTitle: 'Pago rechazado',
  declinedText:
    'El pago no se ha efectuado y no se le ha cobrado nada. Para usar otra tarjeta, vuelva a hacer el pedido.',
  refundedTitle: 'Pago reembolsado',
  refundedText: 'Se le ha devuelto el importe.',
  expiredTitle: 'Pago caducado',
  expiredText: 'El plazo de este pago ha terminado y no se le ha cobrado nada. Vuelva a hacer el pedido.',
  backToMerchant: 'Volver al comercio',
  notFoundTitle: 'Pago no encontrado',
  notFoundText: 'No hay ningún pago en esta dirección. Compruebe el enlace.',
  unreadableTitle: 'Datos ilegibles',
  unreadableText: 'Los datos enviados no se pueden leer. Vuelva atrás e inténtelo de nuevo.',
  failedTitle: 'Algo ha fallado',
  failedText: 'El fallo es nuestro. Inténtelo de nuevo en un momento.',
};

const zh: Texts = {
  testMode: '测试模式：不会产生真实扣款',
  timeLeft: '剩余时间：',
  orderNumber: '参考号',
  payByCard: '银行卡支付',
  number: '卡号',
  expiry: '有效期',
  cvv: '安全码',
  holder: '持卡人姓名',
  expiryHint: '月/年（MM/YY）',
  cvvHint: '3 或 4 位数字',
  numberFault: '请输入卡号：12 至 19 位数字',
  numberMistypedFault: '卡号输入有误：请检查数字',
  expiryFault: '请按 MM/YY 格式输入有效期',
  expiryPastFault: '此卡已过期：请使用其他卡',
  cvvFault: '请输入安全码：3 或 4 位数字',
  holderFault: '请输入卡上所示的姓名',
  checkEntries: '请检查您填写的信息',
  errorPrefix: '错误',
  pay: '支付 {amount}',
  privacy: '您的卡信息将加密传输，不会提供给商户。',
  authenticationTitle: '确认付款',
  authenticationText: '您的银行需要确认此笔付款是否由您本人发起。',
  confirm: '确认付款',
  reject: '拒绝',
  approvedTitle: '支付成功',
  approvedText: '谢谢，您的付款已完成。',
  heldTitle: '付款已授权',
  heldText: '谢谢，款项已冻结，等待商户确认。',
  declinedTitle: '支付被拒绝',
  declinedText: '付款未完成，您未被扣款。如需使用其他卡，请重新下单。',
  refundedTitle: '已退款',
  refundedText: '款项已退还给您。',
  expiredTitle: '支付已过期',
  expiredText: '此笔付款已超时，您未被扣款。请重新下单。',
  backToMerchant: '返回商户',
  notFoundTitle: '未找到付款',
  notFoundText: '此地址没有对应的付款，请检查链接。',
  unreadableTitle: '无法读取信息',
  unreadableText: '无法读取提交的内容，请返回重试。',
  failedTitle: '出现错误',
  failedText: '问题出在我们这边，请稍后重试。',
};

const ja: Texts = {
  testMode: 'テストモード：実際の請求は発生しません',
  timeLeft: '残り時間：',
  orderNumber: '参照番号',
  payByCard: 'カードで支払う',
  number: 'カード番号',
  expiry: '有効期限',
  cvv: 'セキュリティコード',
  holder: 'カード名義人',
  expiryHint: '月/年（MM/YY）',
  cvvHint: '3 桁または 4 桁',
  numberFault: 'カード番号を 12～19 桁の数字で入力してください',
  numberMistypedFault: 'カード番号に誤りがあります。数字をご確認ください',
  expiryFault: '有効期限を MM/YY の形式で入力してください',
  expiryPastFault: 'カードの有効期限が切れています。別のカードをご利用ください',
  cvvFault: 'セキュリティコードを 3 桁または 4 桁の数字で入力してください',
  holderFault: 'カードに記載の名義を入力してください',
  checkEntries: '入力内容をご確認ください',
  errorPrefix: 'エラー',
  pay: '{amount} を支払う',
  privacy: 'カード情報は暗号化して送信され、加盟店には共有されません。',
  authenticationTitle: 'お支払いの確認',
  authenticationText: 'カード会社が、ご本人によるお支払いかどうかを確認しています。',
  confirm: '支払いを承認する',
  reject: '拒否する',
  approvedTitle: 'お支払い完了',
  approvedText: 'ありがとうございます。お支払いが完了しました。',
  heldTitle: 'お支払い承認済み',
  heldText: 'ありがとうございます。加盟店の確定まで金額が確保されます。',
  declinedTitle: 'お支払い不可',
  declinedText:
    'お支払いは行われず、請求は発生していません。別のカードをご利用になるには、再度ご注文ください。',
  refundedTitle: '返金済み',
  refundedText: '金額は返金されました。',
  expiredTitle: '期限切れ',
  expiredText: 'お支払いの期限が過ぎました。請求は発生していません。再度ご注文ください。',
  backToMerchant: '加盟店に戻る',
  notFoundTitle: 'お支払いが見つかりません',
  notFoundText: 'このアドレスにお支払いはありません。リンクをご確認ください。',
  unreadableTitle: '入力を読み取れません',
  unreadableText: '送信された内容を読み取れません。戻ってもう一度お試しください。',
  failedTitle: 'エラーが発生しました',
  failedText: '当方の不具合です。しばらくしてからもう一度お試しください。',
};

const textsByLanguage: ReadonlyMap<string, Texts> = new Map(Object.entries({ en, de, fr, es, zh, ja }));

/** A language with its texts, and the locale for amounts. */
export interface Localisation {
  language: string;
  locale: string;
  texts: Texts;
}

/** The localisation for a BCP 47 tag, by language; English if the language is not available. */
export function localise(tag: string): Localisation {
  const language = languageOf(tag);
  const texts = textsByLanguage.get(language);
  if (texts === undefined) return { language: 'en', locale: 'en', texts: en };
  return { language, locale: isWellFormed(tag) ? tag : language, texts };
}

/** The preferred available language of an `Accept-Language` header; undefined if there is none. */
export function preferredLocale(header = ''): string | undefined {
  const wanted = header.split(',').map((part) => {
    const [tag = '', quality = 'q=1'] = part.split(';').map((piece) => piece.trim());
    return { tag, quality: Number(quality.replace(/^q=/, '')) };
  });
  const known = wanted.filter(({ tag, quality }) => quality > 0 && textsByLanguage.has(languageOf(tag)));
  return known.toSorted((one, other) => other.quality - one.quality)[0]?.tag;
}

const languageOf = (tag: string): string => tag.split('-')[0]?.toLowerCase() ?? '';

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** An amount in minor units formatted for the locale, with the digits of ISO 4217 rather than those of `Intl`. */
export function showAmount(amount: number, currency: string, locale: string): string {
  const digits = minorUnitDigits(currency) ?? 0;
  const options = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  // Passed as a string with an exponent: Intl formats it exactly, while a number would be rounded.
  return new Intl.NumberFormat(locale, options).format(`${amount}E-${digits}` as Intl.StringNumericLiteral);
}
