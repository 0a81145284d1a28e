import { statement } from '../../db/statement.ts'
import { askPermit } from './message-gaps.ts'

/** A row where another email could go out, to that address and at all. The values of `askPermit`. */
export const askEmailCap = statement(
  'ask_email_cap',
  `with ${askPermit('email')} select 1 as has_room from permit`,
)
