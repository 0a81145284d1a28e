import { cloneElement, createContext, type HTMLAttributes, type JSX, type VNode } from 'preact'
import { useContext, useId } from 'preact/hooks'

/** Why the value of a field is invalid. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
  /** The name of the input. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** The error of the surrounding form. The field that it names shows it. */
export const FieldErrorContext = createContext<FieldError | undefined>(undefined)

export interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  /** Why the value is invalid. */
  readonly fault?: string | undefined
  /** One input, select or textarea, which gets its id and description. */
  readonly children: VNode<HTMLAttributes & { readonly name?: string }>
}

export function Field({ label, hint, fault, children }: FieldProps): JSX.Element {
  const id = useId()
  const error = useContext(FieldErrorContext)
  const isNamed = error !== undefined && error.field === children.props.name
  const shownFault = fault ?? (isNamed ? error.message : undefined)
  const about = shownFault ?? hint
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(about !== undefined && { 'aria-describedby': `${id}-about` }),
        ...(shownFault !== undefined && { 'aria-invalid': true }),
      })}
      {about !== undefined && (
        <span id={`${id}-about`} class={shownFault === undefined ? 'hint' : 'fault'}>
          {about}
        </span>
      )}
    </div>
  )
}
