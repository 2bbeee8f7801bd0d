import type { Texts } from './texts.ts';

export const fr: Texts = {
  testMode: 'Mode test : aucun débit réel',
  merchant: 'Marchand',
  orderNumber: 'Numéro de commande',
  payByCard: 'Payer par carte',
  fields: {
    number: 'Numéro de carte',
    expiry: 'Date d’expiration',
    cvv: 'Code de sécurité',
    holder: 'Nom figurant sur la carte',
  },
  hints: { expiry: 'MM/AA', cvv: '3 ou 4 chiffres' },
  faults: {
    number: 'Saisissez le numéro de carte : 12 à 19 chiffres',
    numberMistyped: 'Le numéro de carte comporte une faute de frappe : vérifiez les chiffres',
    expiry: 'Saisissez la date d’expiration au format MM/AA',
    expiryPast: 'La carte a expiré : utilisez une autre carte',
    cvv: 'Saisissez le code de sécurité : 3 ou 4 chiffres',
    holder: 'Saisissez le nom tel qu’il figure sur la carte',
  },
  checkEntries: 'Veuillez vérifier votre saisie',
  errorPrefix: 'Erreur',
  pay: (amount) => `Payer ${amount}`,
  privacy: 'Vos données de carte sont transmises chiffrées et ne sont pas communiquées au marchand.',
  authentication: {
    title: 'Confirmez votre paiement',
    text: 'Votre banque demande si c’est bien vous qui effectuez ce paiement.',
    confirm: 'Confirmer le paiement',
    reject: 'Refuser',
  },
  outcomes: {
    approved: { title: 'Paiement réussi', text: 'Merci. Votre paiement a été effectué.' },
    held: {
      title: 'Paiement autorisé',
      text: 'Merci. Le montant est réservé jusqu’à la confirmation du marchand.',
    },
    declined: {
      title: 'Paiement refusé',
      text: 'Le paiement n’a pas été effectué et vous n’avez pas été débité. Pour utiliser une autre carte, commandez à nouveau.',
    },
    refunded: { title: 'Paiement remboursé', text: 'Le montant vous a été remboursé.' },
    expired: {
      title: 'Paiement expiré',
      text: 'Le délai de ce paiement est écoulé et vous n’avez pas été débité. Veuillez commander à nouveau.',
    },
  },
  backToMerchant: 'Retour au marchand',
  troubles: {
    notFound: {
      title: 'Paiement introuvable',
      text: 'Il n’y a pas de paiement à cette adresse. Veuillez vérifier le lien.',
    },
    unreadable: {
      title: 'Saisie illisible',
      text: 'Les données envoyées sont illisibles. Revenez en arrière et réessayez.',
    },
    failed: {
      title: 'Une erreur est survenue',
      text: 'L’erreur vient de nous. Veuillez réessayer dans un instant.',
    },
  },
};
