import { spendCap } from './message-caps.ts'
import { statement } from './statement.ts'

/**
 * A row where another email could go out. It costs what sending one does, so that who gets none is
 * not told so by the time it takes. $1 most, $2 refill in ms or null, $3 now.
 */
export const askEmailCap = statement(
  'ask_email_cap',
  `with ${spendCap('email', { most: '$1', refillMs: '$2', count: '0', now: '$3' })}
   select 1 as has_room from cap`,
)
