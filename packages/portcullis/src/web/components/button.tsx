import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { showFailure } from './toasts.tsx'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly kind?: 'primary' | 'danger' | 'quiet'
  readonly size?: 'small'
  readonly icon?: IconName
  readonly type?: 'button' | 'submit'
  readonly isDisabled?: boolean
  /** The accessible name, if the visible text is not enough. */
  readonly label?: string
  /** If it returns a promise, the button is disabled until the promise settles. */
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
      showFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      // oxlint-disable-next-line react/button-has-type -- the type allows only valid button types
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
      showFailure(error)
    }
  }
  return (
    <Button kind="quiet" size="small" icon={isCopied ? 'check' : 'copy'} onClick={copy}>
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
