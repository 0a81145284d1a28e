import { createHmac } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** IDs for the record returned when the address is already registered and no user is created. */
export interface DecoyIds {
  /** Always the same for an address: a changing ID would reveal that no user was created. */
  find(address: string, what: 'user' | 'identity'): string
}

/** @param keys shared by all processes of a database. */
export function createDecoyIds(keys: KeyRing): DecoyIds {
  return {
    find(address, what) {
      const hex = createHmac('sha256', keys.current()).update(`${what}\0${address}`).digest('hex')
      const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
      // Has the format of a random UUID.
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    },
  }
}
