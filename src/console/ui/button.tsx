import type { ComponentProps } from 'react';
import style from './button.module.css';

type Kind = 'primary' | 'plain' | 'danger' | 'quiet';

type ButtonProps = ComponentProps<'button'> & { readonly kind?: Kind };

export function Button({ kind = 'plain', className = '', type = 'button', ...props }: ButtonProps) {
  return <button {...props} type={type} className={`${style.button} ${style[kind]} ${className}`} />;
}

interface ButtonLinkProps {
  readonly href: string;
  readonly kind?: Kind;
  readonly children: string;
}

/** Looks like a button and opens another site, which learns nothing of this page and cannot control it. */
export function ButtonLink({ href, kind = 'plain', children }: ButtonLinkProps) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className={`${style.button} ${style[kind]}`}>
      {children}
    </a>
  );
}
