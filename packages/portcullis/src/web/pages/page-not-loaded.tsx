import type { JSX } from 'preact'
import { Failure } from '../components/states.tsx'

const reason = new Error(
  'The page could not be loaded: the console has stopped, or was started again since this window was opened.',
)

/** In place of a page whose code could not be had. */
export function PageNotLoaded(): JSX.Element {
  return <Failure error={reason} onRetry={() => location.reload()} />
}
