import type { Texts } from './texts.ts';

export const de: Texts = {
  testMode: 'Testbetrieb: kein echtes Geld',
  merchant: 'Händler',
  orderNumber: 'Bestellnummer',
  payByCard: 'Mit Karte bezahlen',
  fields: { number: 'Kartennummer', expiry: 'Gültig bis', cvv: 'Prüfnummer', holder: 'Name auf der Karte' },
  hints: { expiry: 'MM/JJ', cvv: '3 oder 4 Ziffern' },
  faults: {
    number: 'Geben Sie die Kartennummer ein: 12 bis 19 Ziffern',
    numberMistyped: 'In der Kartennummer ist ein Tippfehler: Prüfen Sie die Ziffern',
    expiry: 'Geben Sie das Ablaufdatum als MM/JJ ein',
    expiryPast: 'Die Karte ist abgelaufen: Verwenden Sie eine andere Karte',
    cvv: 'Geben Sie die Prüfnummer ein: 3 oder 4 Ziffern',
    holder: 'Geben Sie den Namen ein, wie er auf der Karte steht',
  },
  checkEntries: 'Bitte prüfen Sie Ihre Angaben',
  errorPrefix: 'Fehler',
  pay: (amount) => `${amount} bezahlen`,
  privacy: 'Ihre Kartendaten werden verschlüsselt übertragen und nicht an den Händler weitergegeben.',
  authentication: {
    title: 'Zahlung bestätigen',
    text: 'Ihre Bank fragt, ob wirklich Sie diese Zahlung vornehmen.',
    confirm: 'Zahlung bestätigen',
    reject: 'Ablehnen',
  },
  outcomes: {
    approved: { title: 'Zahlung erfolgreich', text: 'Vielen Dank. Ihre Zahlung ist ausgeführt.' },
    held: {
      title: 'Zahlung autorisiert',
      text: 'Vielen Dank. Der Betrag ist reserviert, bis der Händler ihn bestätigt.',
    },
    declined: {
      title: 'Zahlung abgelehnt',
      text: 'Die Zahlung wurde nicht ausgeführt, Ihre Karte nicht belastet. Für eine andere Karte bestellen Sie bitte erneut.',
    },
    refunded: { title: 'Zahlung erstattet', text: 'Der Betrag wurde Ihnen zurückgezahlt.' },
    expired: {
      title: 'Zahlung abgelaufen',
      text: 'Die Zeit für diese Zahlung ist vorbei, Ihre Karte wurde nicht belastet. Bitte bestellen Sie erneut.',
    },
  },
  backToMerchant: 'Zurück zum Händler',
  troubles: {
    notFound: {
      title: 'Zahlung nicht gefunden',
      text: 'Unter dieser Adresse gibt es keine Zahlung. Bitte prüfen Sie den Link.',
    },
    unreadable: {
      title: 'Angaben nicht lesbar',
      text: 'Die gesendeten Angaben sind nicht lesbar. Gehen Sie zurück und versuchen Sie es erneut.',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
};
