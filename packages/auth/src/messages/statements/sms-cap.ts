import { statement } from '../../db/statement.ts'
import { askPermit } from './message-gaps.ts'

/** A row where another text message could go out, to that number and at all. The values of `askPermit`. */
export const askSmsCap = statement(
  'ask_sms_cap',
  `with ${askPermit('sms')} select 1 as has_room from permit`,
)
