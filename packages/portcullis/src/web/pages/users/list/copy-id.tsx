import type { JSX } from 'preact'
import { Icon } from '../../../components/icons.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'

/** For pointer users only; the panel has an accessible copy button. */
export function CopyId({ id }: { readonly id: string }): JSX.Element {
  const copy = () =>
    navigator.clipboard.writeText(id).then(() => showSuccess('ID copied.'), showFailure)
  return (
    <button
      type="button"
      class="button quiet small user-copy"
      tabIndex={-1}
      aria-label="Copy ID"
      title="Copy ID"
      onClick={copy}
    >
      <Icon name="copy" />
    </button>
  )
}
