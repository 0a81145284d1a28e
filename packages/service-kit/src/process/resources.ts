/** Resources that are disposed together, the last one first. Node 22 has no built-in class for this. */
export class Resources implements AsyncDisposable {
  #resources: (Disposable | AsyncDisposable)[] = []

  /** Adds a resource, and returns it. */
  use<Resource extends Disposable | AsyncDisposable>(resource: Resource): Resource {
    this.#resources.push(resource)
    return resource
  }

  /** Returns everything in another object; this one then disposes nothing. */
  move(): Resources {
    const moved = new Resources()
    moved.#resources = this.#resources
    this.#resources = []
    return moved
  }

  /** Disposes every resource, even if some fail, and then throws the first error. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = []
    for (let next = this.#resources.pop(); next !== undefined; next = this.#resources.pop()) {
      try {
        if (Symbol.asyncDispose in next) await next[Symbol.asyncDispose]()
        else next[Symbol.dispose]()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
