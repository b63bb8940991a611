! SPDX-License-Identifier: Apache-2.0
! Gauss-Seidel on a plate in blocks, in Fortran: tasks that OpenMP's depend orders, and nothing that knows of Weft.
program blocks
  implicit none
  integer, parameter :: n = 64, side = 16, count = n / side, sweeps = 10
  real(8) :: plate(0:n + 1, 0:n + 1), expected(0:n + 1, 0:n + 1)
  integer :: s, i, j, row, column

  call start(expected)
  do s = 1, sweeps
    do j = 1, n
      do i = 1, n
        call relax(expected, i, j)
      end do
    end do
  end do

  call start(plate)
  !$omp parallel
  !$omp single
  do s = 1, sweeps
    do column = 1, n, side
      do row = 1, n, side
        ! A block is named by its first element; the borders of the plate are names, too.
        !$omp task depend(in: plate(max(row - side, 0), column), plate(row, max(column - side, 0))) &
        !$omp&     depend(in: plate(min(row + side, n + 1), column), plate(row, min(column + side, n + 1))) &
        !$omp&     depend(inout: plate(row, column)) firstprivate(row, column) private(i, j) shared(plate)
        do j = column, column + side - 1
          do i = row, row + side - 1
            call relax(plate, i, j)
          end do
        end do
        !$omp end task
      end do
    end do
  end do
  !$omp end single
  !$omp end parallel

  if (any(plate /= expected)) then
    print *, 'the tasks differ from the serial sweeps by', maxval(abs(plate - expected))
    error stop 1
  end if
  print '(a, f9.5)', 'equal to the serial sweeps; the corner has ', plate(1, 1)

contains

  subroutine start(p)
    real(8), intent(out) :: p(0:n + 1, 0:n + 1)
    p = 0
    p(0, :) = 100
  end subroutine

  subroutine relax(p, at, of)
    real(8), intent(inout) :: p(0:n + 1, 0:n + 1)
    integer, intent(in) :: at, of
    p(at, of) = (p(at - 1, of) + p(at + 1, of) + p(at, of - 1) + p(at, of + 1)) / 4
  end subroutine
end program
