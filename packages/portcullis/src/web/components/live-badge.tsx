import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Badge } from './badge.tsx'

/** Says whether the page receives updates. A lost connection differs from one that was never open. */
export function LiveBadge({ isLive }: { readonly isLive: boolean }): JSX.Element {
  const wasLive = useRef(false)
  wasLive.current ||= isLive
  return (
    <Badge tone={isLive ? 'ok' : 'warn'} hasDot>
      {isLive ? 'Live' : wasLive.current ? 'Reconnecting…' : 'Connecting…'}
    </Badge>
  )
}
