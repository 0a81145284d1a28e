import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { tellFailure } from './toasts.tsx'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly kind?: 'primary' | 'danger' | 'quiet'
  readonly size?: 'small'
  readonly icon?: IconName
  readonly type?: 'button' | 'submit'
  readonly isDisabled?: boolean
  /** Where the words alone do not say what happens. */
  readonly label?: string
  /** While a promise is open the button waits with it. */
  readonly onClick?: () => unknown
}

export function Button(props: ButtonProps): JSX.Element {
  const { children, kind, size, icon, type = 'button', isDisabled = false, label, onClick } = props
  const [isBusy, setBusy] = useState(false)
  const click = async () => {
    setBusy(true)
    try {
      await onClick?.()
    } catch (error) {
      tellFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      // oxlint-disable-next-line react/button-has-type -- its type allows only what a button may be
      type={type}
      class={['button', kind, size].filter(Boolean).join(' ')}
      disabled={isDisabled || isBusy}
      aria-label={label}
      aria-busy={isBusy || undefined}
      onClick={onClick && click}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

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
