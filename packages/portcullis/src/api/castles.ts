/** Something to ask for, until there is data of your own. */
export interface Castle {
  readonly name: string
  readonly country: string
  readonly built: number
}

export const castles: readonly Castle[] = [
  { name: 'Bodiam', country: 'England', built: 1385 },
  { name: 'Bunratty', country: 'Ireland', built: 1425 },
  { name: 'Caerphilly', country: 'Wales', built: 1268 },
  { name: 'Carcassonne', country: 'France', built: 1130 },
  { name: 'Conwy', country: 'Wales', built: 1283 },
  { name: 'Eltz', country: 'Germany', built: 1157 },
  { name: 'Harlech', country: 'Wales', built: 1282 },
  { name: 'Malbork', country: 'Poland', built: 1274 },
]
