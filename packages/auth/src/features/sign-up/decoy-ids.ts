import { createHmac } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** Ids for the record of a user who is not made, since the address has one already. */
export interface DecoyIds {
  /** The same for an address each time: who asks twice would see that a new user keeps their id. */
  find(address: string, what: 'user' | 'identity'): string
}

/** @param keys shared by all processes of a database. */
export function createDecoyIds(keys: KeyRing): DecoyIds {
  return {
    find(address, what) {
      const hex = createHmac('sha256', keys.current()).update(`${what}\0${address}`).digest('hex')
      const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
      // As random ids look.
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    },
  }
}
