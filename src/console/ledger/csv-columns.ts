/** The columns in the order of the file. The contract describes each of them. */
export const columnNames = [
  ...["Date Created", "Time Created", "Type", "State", "Reference", "Description", "Amount", "Total Amount"],
  ...["Corporate Card Surcharge", "Fee", "Fee (transaction)", "Fee (3DS)", "Fee (fraud protection)", "Net"],
  ...["Currency", "Payout", "Settled Date", "Account", "Live", "Email", "Cardholder Name", "Card Brand"],
  ...[
    "Card Type",
    "Card Number",
    "Card Expiry Date",
    "Wallet Type",
    "MOTO",
    "3-D Secure Required",
    "Finished",
  ],
  ...["Error Code", "Error Message", "Issued By", "Payment Provider", "Provider ID", "GOV.UK Payment ID"],
  ...["Transaction ID", "Other metadata"],
];
