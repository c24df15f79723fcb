/* The control `plain` with the packages of the service loaded, too. */
import './same-packages.ts';
import './plain.ts';
