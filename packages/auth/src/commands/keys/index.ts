import { list } from './list.ts'
import { retire } from './retire.ts'
import { rotate } from './rotate.ts'
import { unwrap } from './unwrap.ts'
import type { KeyVerb } from './verb.ts'

/** In the order of the overview. */
export const keyVerbs: Readonly<Record<string, KeyVerb>> = { list, rotate, retire, unwrap }
