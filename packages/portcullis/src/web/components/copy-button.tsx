import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { tellFailure } from './toasts.tsx'

const shownMs = 2_000

export function CopyButton({
  text,
  label = 'Copy',
}: {
  readonly text: string
  readonly label?: string
}): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), shownMs)
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <Button kind="quiet" size="small" icon={isCopied ? 'check' : 'copy'} onClick={copy}>
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
