import type { ComponentProps } from 'react';
import style from './button.module.css';

type ButtonProps = ComponentProps<'button'> & {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
};

export function Button({ kind = 'plain', className = '', type = 'button', ...props }: ButtonProps) {
  return <button {...props} type={type} className={`${style.button} ${style[kind]} ${className}`} />;
}
