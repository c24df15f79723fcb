import { Component, type ReactNode } from 'react';

interface ErrorBoundaryProps {
  readonly children: ReactNode;
  /** What is shown instead of the children. `retry` renders them again. */
  readonly fallback: (error: Error, retry: () => void) => ReactNode;
}

/** Without a boundary, React removes the whole page when a component throws. React has them as classes only. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: Error | null }> {
  override readonly state = { error: null };

  static getDerivedStateFromError(thrown: unknown): { error: Error } {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === null ? this.props.children : this.props.fallback(error, this.#retry);
  }

  readonly #retry = () => this.setState({ error: null });
}
