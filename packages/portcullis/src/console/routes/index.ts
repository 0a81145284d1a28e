import type { AddRoutes } from '../console.ts'
import { addPassThrough } from './pass-through.ts'
import { addSession } from './session.ts'

/** One file per page, or per thing that several pages need. */
export const routes: readonly AddRoutes[] = [addSession, addPassThrough]
